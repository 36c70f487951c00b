// Entry point `zkwire/opentelemetry`: spans and metrics of OpenTelemetry, made of what the client and its locks publish
// on channels of node:diagnostics_channel. Re-exports only.
// May import: client/index.ts, recipes/index.ts, options, protocol, @opentelemetry/api.
export { instrument, type Instrumentation, type InstrumentOptions } from './instrument.ts'
