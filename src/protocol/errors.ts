// Every error: KeeperException.Code's names, numbers and meanings, and our own.

/** What a server says in a reply header. */
const serverErrors = {
  SYSTEMERROR: [-1, 'the server failed'],
  RUNTIMEINCONSISTENCY: [-2, 'not done, because another operation of the same multi failed'],
  DATAINCONSISTENCY: [-3, 'the server found its data inconsistent'],
  CONNECTIONLOSS: [-4, 'the connection to the server was lost'],
  MARSHALLINGERROR: [-5, 'the server could not read the request'],
  UNIMPLEMENTED: [-6, 'the server does not know this operation, or it is switched off there'],
  OPERATIONTIMEOUT: [-7, 'the operation timed out'],
  BADARGUMENTS: [-8, 'an argument is not valid'],
  UNKNOWNSESSION: [-12, 'the server does not know the session'],
  NEWCONFIGNOQUORUM: [-13, 'no quorum of the new configuration is connected and up to date'],
  RECONFIGINPROGRESS: [-14, 'another reconfiguration is under way'],
  APIERROR: [-100, 'the request was refused'],
  NONODE: [-101, 'the node does not exist'],
  NOAUTH: [-102, 'the access control list does not allow it'],
  BADVERSION: [-103, 'the version is not the expected one'],
  NOCHILDRENFOREPHEMERALS: [-108, 'an ephemeral node can have no children'],
  NODEEXISTS: [-110, 'the node exists already'],
  NOTEMPTY: [-111, 'the node has children'],
  SESSIONEXPIRED: [-112, 'the session has expired'],
  INVALIDCALLBACK: [-113, 'the callback is not valid'],
  INVALIDACL: [-114, 'the access control list is not valid'],
  AUTHFAILED: [-115, 'authentication failed'],
  SESSIONMOVED: [-118, 'the session has moved to another server'],
  NOTREADONLY: [-119, 'the server is read-only'],
  EPHEMERALONLOCALSESSION: [-120, 'a local session can create no ephemeral node'],
  NOWATCHER: [-121, 'there is no such watch'],
  REQUESTTIMEOUT: [-122, 'the server did not complete the request in time'],
  RECONFIGDISABLED: [-123, 'reconfiguration is disabled on the server'],
  SESSIONCLOSEDREQUIRESASLAUTH: [-124, 'the server closed the session because it wants authentication'],
  QUOTAEXCEEDED: [-125, 'the quota of the path is exceeded'],
  THROTTLEDOP: [-127, 'the server is overloaded and did not execute the request'],
} as const satisfies Record<string, readonly [errno: number, meaning: string]>

/** What no server says. */
const ownErrors = {
  CLOSED: 'the client is closed',
  PROTOCOL: 'the server does not keep to the protocol',
  REQUESTTOOLARGE: 'the request is larger than maxRequestBytes, and a server would cut the connection for it',
  REPLYTOOLARGE: 'the reply is larger than maxReplyBytes',
  TOOMANYPENDING: 'there are maxPending requests without a reply already',
  CONNECTTIMEOUT: 'no server took the session in time',
  UNKNOWN: 'the server gave an error number that this client does not know',
} as const

export type ServerErrorCode = keyof typeof serverErrors
export type ErrorCode = ServerErrorCode | keyof typeof ownErrors

/** Numbers of KeeperException.Code by name. */
export const errnos = Object.fromEntries(
  Object.entries(serverErrors).map(([code, [errno]]) => [code, errno]),
) as Readonly<Record<ServerErrorCode, number>>

const codesByErrno = new Map<number, ServerErrorCode>(
  Object.entries(errnos).map(([code, errno]) => [errno, code as ServerErrorCode]),
)

/** The name of an error number; 'UNKNOWN' for one that nobody knows. */
export const codeOf = (errno: number): ErrorCode => codesByErrno.get(errno) ?? 'UNKNOWN'

const meaningOf = (code: ErrorCode): string =>
  code in ownErrors ? ownErrors[code as keyof typeof ownErrors] : serverErrors[code as ServerErrorCode][1]

/**
 * May the server have done it? `notSent`: it never left this process. `refused`: the server said no. `unknown`: it was sent
 * and the answer was lost, so it may have been done.
 */
export type Fate = 'notSent' | 'unknown' | 'refused'

export interface ErrorContext {
  op?: string
  path?: string
  fate: Fate
  errno?: number
  /** Said behind the meaning of the code. */
  detail?: string
  cause?: unknown
}

/** Every failure of a client's call. */
export class ZooKeeperError extends Error {
  override readonly name: string = 'ZooKeeperError'
  readonly code: ErrorCode
  /** The server's number for the code; 0 for our own codes. */
  readonly errno: number
  /** The operation that failed; '' where it was none. */
  readonly op: string
  /** The path as the caller gave it; '' where there was none. */
  readonly path: string
  readonly fate: Fate

  constructor(code: ErrorCode, { op = '', path = '', fate, errno, detail, cause }: ErrorContext) {
    const subject = [op, path].filter(Boolean).join(' ')
    super(
      [code, subject, meaningOf(code) + (detail ? ` (${detail})` : '')].filter(Boolean).join(': '),
      cause === undefined ? undefined : { cause },
    )
    this.code = code
    this.errno = errno ?? (code in serverErrors ? errnos[code as ServerErrorCode] : 0)
    this.op = op
    this.path = path
    this.fate = fate
  }
}

/** Of a call that is not even sent, since it could not be meant so. */
export const badArguments = (op: string, path: string, detail: string): ZooKeeperError =>
  new ZooKeeperError('BADARGUMENTS', { op, path, fate: 'notSent', detail })

/** Is it a ZooKeeperError of one of these codes? */
export const isCode = (error: unknown, ...codes: ErrorCode[]): boolean =>
  error instanceof ZooKeeperError && codes.includes(error.code)

/** How one operation of a failed multi fared. */
export interface MultiFailure {
  /** 'OK' for an operation that would have been done, had the others not failed. */
  code: ErrorCode | 'OK'
  errno: number
}

/** A multi that was refused: nothing of it was applied. `code`, `op` and `path` are those of the operation to blame. */
export class MultiError extends ZooKeeperError {
  override readonly name = 'MultiError'
  /** One for each operation, in their order. */
  readonly results: readonly MultiFailure[]

  constructor(code: ErrorCode, context: ErrorContext, results: readonly MultiFailure[]) {
    super(code, context)
    this.results = results
  }
}
