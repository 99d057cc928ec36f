// Says its wall and monotonic clocks, in ns, and what it found wrong so far: "wall monotonic wrong".
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

public class Clock {
    static final AtomicLong wrong = new AtomicLong();
    static volatile Object garbage;

    static void readClocks() {
        long last = System.nanoTime();
        while (true) {
            for (int i = 0; i < 500; i++) {
                long now = System.nanoTime();
                if (now < last) wrong.incrementAndGet();
                last = now;
                System.currentTimeMillis();
                Instant.now();
            }
            garbage = new byte[1 << 16];
            sleep(1);
        }
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException error) {
            wrong.incrementAndGet();
        }
    }

    // A sleep is a wait for an absolute time of the monotonic clock, which the kernel does not shift.
    static void pause(long millis) {
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < millis * 1_000_000) Thread.yield();
    }

    public static void main(String[] arguments) {
        for (int i = 0; i < 4; i++) new Thread(Clock::readClocks).start();
        while (true) {
            Instant now = Instant.now();
            long wall = now.getEpochSecond() * 1_000_000_000L + now.getNano();
            System.out.println(wall + " " + System.nanoTime() + " " + wrong.get());
            pause(2);
        }
    }
}
