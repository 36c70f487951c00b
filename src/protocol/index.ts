// Bytes to values and back. Synchronous: no socket, clock, promise or randomness. This file: the exports for the
// rest of src. A file that must stay small in a bundle imports another file of the folder directly. Only the operations
// have a namespace.
// May import: nothing.
export * from './constants.ts'
export * from './errors.ts'
export * from './explain.ts'
export * from './frames.ts'
export * from './hex.ts'
export * from './json.ts'
export * from './jute.ts'
export * from './jute-error.ts'
export * from './multi.ts'
export * from './node-records.ts'
export * as operations from './operations.ts'
export * from './operation.ts'
export * from './paths.ts'
export * from './printable.ts'
export * from './reader.ts'
export * from './records.ts'
export * from './request-frame.ts'
export * from './writer.ts'
