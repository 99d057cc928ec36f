//! Every kind of fault on nodes and controllers, proven, felt and taken back.
