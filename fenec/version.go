package fenec

// Version is the version of this module, as servers tell it.
const Version = "0.1.0"
