// The error codes: those of the server (KeeperException.Code) and those of this client. Error messages contain their
// meanings.
import { brand } from './brand.ts'
import { printable } from './printable.ts'
import { whereToRead } from './site-address.ts'

/** Errors that servers send in reply headers. */
const serverErrors = {
  SYSTEMERROR: [-1, 'the server failed with an internal error; its log has the cause'],
  RUNTIMEINCONSISTENCY: [-2, 'not executed because another operation of the same multi failed'],
  DATAINCONSISTENCY: [-3, 'the server found its data inconsistent; its log has the cause'],
  CONNECTIONLOSS: [
    -4,
    'the connection to the server was lost; if error.fate is unknown, the request may have been executed',
  ],
  MARSHALLINGERROR: [-5, 'the server could not decode the request'],
  UNIMPLEMENTED: [-6, 'the server does not support the operation, because of its version or its configuration'],
  OPERATIONTIMEOUT: [-7, 'the operation timed out; it may have been executed'],
  BADARGUMENTS: [-8, 'an argument is invalid'],
  UNKNOWNSESSION: [-12, 'the server does not know the session; connect again'],
  NEWCONFIGNOQUORUM: [
    -13,
    'no quorum of the new configuration is connected and synchronized; retry when its servers are',
  ],
  RECONFIGINPROGRESS: [-14, 'another reconfiguration is in progress; retry when it is done'],
  APIERROR: [-100, 'the server rejected the request'],
  NONODE: [-101, 'the node, or the parent of a node to create, does not exist'],
  NOAUTH: [
    -102,
    'the ACL of the node or its parent denies the operation; authenticate with addAuth() as a permitted identity',
  ],
  BADVERSION: [-103, 'the version of the node is not the expected one; read the node again and retry'],
  NOCHILDRENFOREPHEMERALS: [-108, 'the parent is ephemeral, and ephemeral nodes cannot have children'],
  NODEEXISTS: [-110, 'the node already exists'],
  NOTEMPTY: [-111, 'the node has children; delete them first'],
  SESSIONEXPIRED: [-112, 'the session has expired, and the server has deleted its ephemeral nodes; connect again'],
  INVALIDCALLBACK: [-113, 'the callback is invalid'],
  INVALIDACL: [-114, 'the ACL is empty or invalid, or refers to an identity that the session has not authenticated'],
  AUTHFAILED: [-115, 'authentication failed; check the credentials'],
  SESSIONMOVED: [-118, 'the session is now connected to another server'],
  NOTREADONLY: [-119, 'the server is read-only because it has lost its quorum; retry when it has one again'],
  EPHEMERALONLOCALSESSION: [-120, 'a local session cannot create ephemeral nodes'],
  NOWATCHER: [-121, 'there is no such watch'],
  REQUESTTIMEOUT: [-122, 'the server did not complete the request in time; it may have been executed'],
  RECONFIGDISABLED: [-123, 'reconfiguration is disabled; set reconfigEnabled=true on the servers'],
  SESSIONCLOSEDREQUIRESASLAUTH: [
    -124,
    'the server closed the session because it requires SASL authentication; set the option sasl',
  ],
  QUOTAEXCEEDED: [-125, 'the request would exceed the quota of the path'],
  THROTTLEDOP: [-127, 'the server is overloaded and did not execute the request; retry later'],
} as const satisfies Record<string, readonly [errno: number, meaning: string]>

/** Errors of the client, which servers never send. */
const ownErrors = {
  CLOSED: 'the client or the recipe is closed',
  PROTOCOL: 'the server violated the protocol',
  REQUESTTOOLARGE:
    'the request exceeds maxRequestBytes; servers close the connection if a request exceeds their jute.maxbuffer',
  REPLYTOOLARGE: 'the reply exceeds maxReplyBytes; raise it to receive such replies',
  TOOMANYPENDING: 'the limit maxPending is reached; wait until some of the pending requests have settled',
  NOSERVER: 'no server accepted the session',
  ACCESSDENIED: 'the runtime does not permit the program to connect; start it with the permission',
  CONNECTTIMEOUT: 'no server accepted the session within connectTimeout',
  UNKNOWN: 'the server replied with an error number that this client does not know',
} as const

/**
 * The codes that servers send.
 * @example
 * const code: ServerErrorCode = 'NODEEXISTS'
 * server.faults.replace('create', code)
 * await zk.create('/app') // throws NODEEXISTS
 */
export type ServerErrorCode = keyof typeof serverErrors
/**
 * All codes of a {@link ZooKeeperError}.
 * @example
 * const retryable: readonly ErrorCode[] = ['CONNECTIONLOSS', 'THROTTLEDOP']
 * const error = await zk.delete('/missing').catch((error: unknown) => error)
 * isCode(error, ...retryable) // => false
 */
export type ErrorCode = ServerErrorCode | keyof typeof ownErrors

/**
 * The numbers of KeeperException.Code by name.
 * @example errnos.NONODE // => -101
 */
export const errnos = Object.fromEntries(
  Object.entries(serverErrors).map(([code, [errno]]) => [code, errno]),
) as Readonly<Record<ServerErrorCode, number>>

const codesByErrno = new Map<number, ServerErrorCode>(
  Object.entries(errnos).map(([code, errno]) => [errno, code as ServerErrorCode]),
)

/**
 * Returns the code of an error number, or 'UNKNOWN' for an unknown number.
 * @example codeOf(-101) // => 'NONODE'
 */
export const codeOf = (errno: number): ErrorCode => codesByErrno.get(errno) ?? 'UNKNOWN'

const meaningOf = (code: ErrorCode): string =>
  code in ownErrors ? ownErrors[code as keyof typeof ownErrors] : serverErrors[code as ServerErrorCode][1]

/**
 * Says whether the server may have executed the request. `notSent`: the request never left this process. `refused`: the
 * server rejected it. `unknown`: it was sent, but no reply says whether the server executed it.
 * @example
 * server.faults.drop('setData')
 * const error = await zk.setData('/', 'v1').catch((error: ZooKeeperError) => error)
 * const fate: Fate | undefined = error instanceof ZooKeeperError ? error.fate : undefined
 * fate // => 'unknown'
 */
export type Fate = 'notSent' | 'unknown' | 'refused'

/**
 * What a {@link ZooKeeperError} says about the call that failed.
 * @example
 * const context: ErrorContext = { op: 'create', path: '/a', fate: 'refused' }
 * new ZooKeeperError('NODEEXISTS', context).message // => 'NODEEXISTS: create /a: the node already exists'
 */
export interface ErrorContext {
  /** The operation that failed. Default: ''. */
  op?: string | undefined
  /** The path as the caller gave it. Default: ''. */
  path?: string | undefined
  /** Whether the server may have executed the request. */
  fate: Fate
  /** The server's error number. Default: that of the code, or 0 for the client's own codes. */
  errno?: number | undefined
  /** Appended to the message in parentheses. Default: nothing. */
  detail?: string | undefined
  /** The error that led to this one. Default: none. */
  cause?: unknown
}

/**
 * The error of a failed call. Its message is `CODE: op path: meaning (detail)`, and ends with the address of the page
 * about the code once the site of this package has an address.
 * @example
 * const error = await zk.delete('/missing').catch((error: ZooKeeperError) => error)
 * error?.message // => 'NONODE: delete /missing: the node, or the parent of a node to create, does not exist'
 */
export class ZooKeeperError extends Error {
  static {
    brand(this, 'ZooKeeperError')
  }
  /** The name of this class, for logs. A program should ask `instanceof` or {@link isCode}. */
  override readonly name: string = 'ZooKeeperError'
  /** The reason of the failure. */
  readonly code: ErrorCode
  /** The number of the code in KeeperException.Code; for UNKNOWN, the number that the server sent; otherwise 0. */
  readonly errno: number
  /** The operation that failed; '' if no operation was involved. */
  readonly op: string
  /** The path as the caller gave it; '' if the call has no path. */
  readonly path: string
  /** Whether the server may have executed the request. */
  readonly fate: Fate

  constructor(code: ErrorCode, { op = '', path = '', fate, errno, detail, cause }: ErrorContext) {
    const subject = [op, shortened(path)].filter(Boolean).join(' ')
    const text = [code, subject, meaningOf(code) + (detail ? ` (${detail})` : '')].filter(Boolean).join(': ')
    super(printable(text) + whereToRead(code), cause === undefined ? undefined : { cause })
    this.code = code
    this.errno = errno ?? (code in serverErrors ? errnos[code as ServerErrorCode] : 0)
    this.op = op
    this.path = path
    this.fate = fate
  }
}

/** The most characters of a path in a message. A path may have as many bytes as a request, and messages are logged. */
const LONGEST_PATH = 1000

const shortened = (path: string): string =>
  path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}… (${path.length} characters)` : path

/** Returns the error of a call with invalid arguments, which was not sent. Its path is empty unless a string was passed. */
export const badArguments = (op: string, path: unknown, detail: string): ZooKeeperError =>
  new ZooKeeperError('BADARGUMENTS', { op, path: typeof path === 'string' ? path : '', fate: 'notSent', detail })

/**
 * Returns true if `error` is a ZooKeeperError with one of these codes. TypeScript then knows both.
 * @example
 * const error = await zk.delete('/missing').catch((error: unknown) => error)
 * isCode(error, 'NONODE', 'NOTEMPTY') && error.fate // => 'refused'
 */
export const isCode = <C extends ErrorCode>(
  error: unknown,
  ...codes: C[]
): error is ZooKeeperError & { readonly code: C } =>
  error instanceof ZooKeeperError && (codes as ErrorCode[]).includes(error.code)

/**
 * The result of one operation of a failed multi.
 * @example
 * const error = await zk.multi([{ check: '/' }, { delete: '/missing' }]).catch((error: unknown) => error)
 * const failures: readonly MultiFailure[] = error instanceof MultiError ? error.results : []
 * failures.map(({ code }) => code) // => ['OK', 'NONODE']
 */
export interface MultiFailure {
  /** The reason of the failure. 'OK' for an operation before the one that failed; it was not applied either. */
  code: ErrorCode | 'OK'
  /** The server's error number; 0 for 'OK'. */
  errno: number
}

/**
 * The error of a failed multi. No operation of it was applied. `code`, `op` and `path` are those of the operation that
 * failed.
 * @example
 * const error = await zk.multi([{ check: '/' }, { delete: '/missing' }]).catch((error: MultiError) => error)
 * error instanceof MultiError && error.path // => '/missing'
 */
export class MultiError extends ZooKeeperError {
  static {
    brand(this, 'MultiError')
  }
  /** The name of this class, for logs. A program should ask `instanceof`. */
  override readonly name = 'MultiError'
  /** One result per operation, in their order. */
  readonly results: readonly MultiFailure[]

  constructor(code: ErrorCode, context: ErrorContext, results: readonly MultiFailure[]) {
    super(code, context)
    this.results = results
  }
}
