// Entry point `zkwire/sasl`: SASL mechanisms for the option `sasl`. Re-exports only.
// May import: session/life, protocol, runtime.
export type { Exchange, Mechanism, MechanismContext, Step } from '../session/life/sasl.ts'
export { digestMd5, type DigestCredentials } from './digest-md5.ts'
export { gssapi, type GssapiOptions, type KerberosClient, type KerberosModule } from './gssapi.ts'
export { SaslError } from './sasl-error.ts'
