// SASL mechanisms for connect()'s option `sasl`.
export type { Exchange, Mechanism, MechanismContext, Step } from '../session/index.ts'
export { digestMd5, type DigestCredentials } from './digest-md5.ts'
export { SaslError } from './sasl-error.ts'
