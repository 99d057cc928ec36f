// Says its wall and monotonic clocks, in ns, and what it found wrong so far: "wall monotonic wrong".
package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

var begun = time.Now()
var wrong atomic.Int64

func readClocks() {
	last := time.Duration(0)
	for {
		for i := 0; i < 500; i++ {
			now := time.Since(begun)
			if now < last {
				wrong.Add(1)
			}
			last = now
			time.Now()
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func collectGarbage() {
	for {
		_ = make([]byte, 1<<20)
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
}

func main() {
	for i := 0; i < 8; i++ {
		go readClocks()
	}
	go collectGarbage()
	for {
		now := time.Now()
		fmt.Println(now.UnixNano(), now.Sub(begun).Nanoseconds(), wrong.Load())
		time.Sleep(2 * time.Millisecond)
	}
}
