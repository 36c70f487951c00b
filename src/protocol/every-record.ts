// All records under one namespace, those of multi and multiRead included.
export { MultiReadRequest, MultiRequest, MultiResponse, type MultiItem } from './multi.ts'
export * from './node-records.ts'
export * from './records.ts'
