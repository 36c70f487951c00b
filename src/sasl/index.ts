// Entry point `zkwire/sasl`: SASL mechanisms for the option `sasl`. Re-exports only.
// May import: session/life, runtime.
export type { Exchange, Mechanism, MechanismContext, Step } from '../session/life/sasl.ts'
export { digestMd5, type DigestCredentials } from './digest-md5.ts'
export { SaslError } from './sasl-error.ts'
