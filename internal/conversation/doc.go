// Package conversation keeps people's conversations and runs their turns: the
// sealed records and messages, the lease by which one turn at a time answers in
// a conversation, and the event logs that any number of readers follow, on any
// replica.
//
// It knows no HTTP and no wire format: events are typed, and each surface
// encodes what [Service.Follow] yields, or [Service.FollowFunc] where
// thousands of readers wait. It knows no tool and no model vendor.
//
// Start with [Service]; turn.go has the life of a turn, log.go the event logs, follow.go
// how they are read.
package conversation
