// The options of a connection, from the command line, the environment and files, so that no secret has to be in a list
// of processes.
import { readFileSync } from 'node:fs'
import type { Client, ConnectOptions } from '../../client/index.ts'
import { systemClock, type Clock } from '../../runtime/clock.ts'
import type { Host, Options, ParsedValues, Sessions, Target } from './command.ts'
import { UsageError } from './failure.ts'
import { OutageNotices, type Say } from './outage-notices.ts'
import { secondsOf, wholeNumberOf } from './values.ts'

export const connectionOptions = {
  server: {
    type: 'string',
    short: 's',
    value: 'HOSTS',
    help: 'connect string, as zk1:2181,zk2:2181/app; or $ZKWIRE_SERVER, $ZK_HOSTS; default localhost:2181',
  },
  timeout: { type: 'string', value: 'SECONDS', help: 'session timeout; default 30' },
  'connect-timeout': {
    type: 'string',
    value: 'SECONDS',
    help: 'waits this long for a server that is about to start; default: not, if none is there',
  },
  auth: {
    type: 'string',
    multiple: true,
    value: 'SCHEME:CRED',
    help: 'credentials, as digest:user:password; @FILE reads one a line; or $ZKWIRE_AUTH',
  },
  sasl: {
    type: 'string',
    value: 'USER:PASSWORD',
    help: 'authenticates by SASL with DIGEST-MD5; @FILE reads a file; or $ZKWIRE_SASL',
  },
  tls: { type: 'boolean', help: 'uses TLS, as do --ca, --cert and --key' },
  ca: { type: 'string', value: 'FILE', help: 'certificates of the authorities to trust' },
  cert: { type: 'string', value: 'FILE', help: 'own certificate' },
  key: { type: 'string', value: 'FILE', help: 'private key of --cert; its passphrase is $ZKWIRE_KEY_PASSPHRASE' },
  'max-request': {
    type: 'string',
    value: 'BYTES',
    help: 'the longest request, if jute.maxbuffer of the servers is not the default 1048575; or $ZKWIRE_MAX_REQUEST',
  },
  'max-reply': {
    type: 'string',
    value: 'BYTES',
    help: 'the longest reply, as of a node with very many children; default 16777216; or $ZKWIRE_MAX_REPLY',
  },
  'read-only': { type: 'boolean', help: 'also accepts a server that has lost its quorum' },
} as const satisfies Options

/** With a lower limit of requests and replies, no session could be opened. In bytes. */
const SHORTEST_LIMIT = 1024

/** @throws UsageError if a value is malformed, or a file cannot be read */
export async function targetOf(values: ParsedValues, env: Host['env'], clock: Clock): Promise<Target> {
  const text = (name: keyof typeof connectionOptions) => values[name] as string | undefined
  const servers = text('server') ?? (env['ZKWIRE_SERVER'] || env['ZK_HOSTS'] || 'localhost:2181')
  const auth = [...((values['auth'] as readonly string[] | undefined) ?? []), env['ZKWIRE_AUTH'] ?? '']
  const sasl = text('sasl') ?? env['ZKWIRE_SASL']
  const [timeout, connectTimeout] = (['timeout', 'connect-timeout'] as const).map(name => secondsOf(name, text(name)))
  const bytesOf = (name: 'max-request' | 'max-reply', variable: string) =>
    wholeNumberOf(name, text(name) ?? (env[variable] || undefined), SHORTEST_LIMIT)
  return {
    servers,
    options: {
      clock,
      sessionTimeout: timeout === undefined ? undefined : 1000 * timeout,
      connectTimeout: connectTimeout === undefined ? undefined : 1000 * connectTimeout,
      auth: auth.flatMap(each => linesOf('auth', each)).map(credentialsOf),
      ...(sasl ? { sasl: await mechanismOf(sasl) } : {}),
      ...tlsOf(text, values['tls'] === true, env),
      readOnly: values['read-only'] === true,
      maxRequestBytes: bytesOf('max-request', 'ZKWIRE_MAX_REQUEST'),
      maxReplyBytes: bytesOf('max-reply', 'ZKWIRE_MAX_REPLY'),
      // connect() rejects with the last failure. A line for each attempt would only repeat it.
      onConnectionError: () => undefined,
    },
  }
}

/** Returns the lines of a value, or of the file that it names after `@`, without empty ones. */
function linesOf(option: string, value: string): string[] {
  const bytes = value.startsWith('@') ? contentsOf(option, value.slice(1)) : undefined
  if (bytes !== undefined && ['fffe', 'feff'].includes(bytes.toString('hex', 0, 2)))
    throw new UsageError(`--${option}: the file is UTF-16, as Windows PowerShell writes it: convert it to UTF-8`)
  const text = bytes === undefined ? value : bytes.toString()
  return text.split(/\r?\n/).filter(line => line.trim() !== '')
}

function credentialsOf(line: string): { scheme: string; auth: string } {
  const colon = line.indexOf(':')
  // The value may be a secret, so the message does not show it.
  if (colon < 1)
    throw new UsageError('--auth: a line of credentials has no scheme: write SCHEME:CRED, as digest:ann:secret')
  return { scheme: line.slice(0, colon), auth: line.slice(colon + 1) }
}

async function mechanismOf(value: string): Promise<NonNullable<ConnectOptions['sasl']>> {
  const [line = '', ...others] = linesOf('sasl', value)
  const colon = line.indexOf(':')
  if (colon < 1 || others.length > 0) throw new UsageError('--sasl: write USER:PASSWORD, or @FILE with one such line')
  const { digestMd5 } = await import('../../sasl/index.ts')
  return digestMd5({ username: line.slice(0, colon), password: line.slice(colon + 1) })
}

function tlsOf(
  text: (name: 'ca' | 'cert' | 'key') => string | undefined,
  isWanted: boolean,
  env: Host['env'],
): Pick<ConnectOptions, 'tls'> {
  const files = (['ca', 'cert', 'key'] as const).flatMap(name => {
    const file = text(name)
    return file === undefined ? [] : [[name, contentsOf(name, file)] as const]
  })
  if (files.length === 0) return isWanted ? { tls: true } : {}
  const passphrase = env['ZKWIRE_KEY_PASSPHRASE']
  return { tls: { ...Object.fromEntries(files), ...(passphrase ? { passphrase } : {}) } }
}

function contentsOf(option: string, file: string): Buffer {
  try {
    const bytes = readFileSync(file)
    // Editors of Windows write a byte order mark, which would be a part of a scheme, a user or a certificate.
    return bytes.toString('hex', 0, 3) === 'efbbbf' ? bytes.subarray(3) : bytes
  } catch (error) {
    throw new UsageError(`--${option}: cannot read ${file} (${(error as { code?: string }).code ?? 'unknown'})`)
  }
}

/** The sessions of a command that opens its own. */
export class OwnSessions implements Sessions {
  readonly target: () => Promise<Target>
  readonly #signal: AbortSignal
  #client: Promise<Client> | undefined
  #supervised: Promise<unknown> | undefined
  readonly #say: Say
  readonly #command: string | undefined
  #notices: OutageNotices | undefined
  readonly endsWithCommand = true

  /**
   * @param signal ends the attempts to connect
   * @param say is told of a connection that is missing for some time. Default: nobody is told
   */
  constructor(target: () => Promise<Target>, signal: AbortSignal, say: Say = () => undefined, command?: string) {
    this.target = target
    this.#signal = signal
    this.#say = say
    this.#command = command
  }

  open(wait?: number): Promise<Client> {
    return (this.#client ??= this.#open(wait))
  }

  async #open(wait?: number): Promise<Client> {
    const { servers, options, notices } = await this.#noticing()
    const { connect } = await import('../../client/index.ts')
    const connectTimeout = options.connectTimeout ?? wait
    const client = await connect(servers, { ...options, signal: this.#signal, connectTimeout }).catch(
      (error: unknown) => {
        notices.stop()
        throw error
      },
    )
    client.on('state', state => {
      if (state === 'expired') this.#client = undefined
    })
    return client
  }

  async supervise<T>(task: (client: Client, signal: AbortSignal) => T | Promise<T>, signal: AbortSignal): Promise<T> {
    const { servers, options, notices } = await this.#noticing()
    const { connect, supervise } = await import('../../client/index.ts')
    const work = async () => {
      // supervise() waits for servers without limit. A command must fail at its start if there is none.
      await (await connect(servers, { ...options, signal })).close()
      return supervise(servers, { ...options, signal }, task)
    }
    const supervised = work().finally(() => notices.stop())
    this.#supervised = supervised.catch(() => undefined)
    return supervised
  }

  /** Returns the target, with options that tell of outages. */
  async #noticing(): Promise<Target & { readonly notices: OutageNotices }> {
    const { servers, options } = await this.target()
    const notices = (this.#notices ??= new OutageNotices(this.#say, options.clock ?? systemClock, this.#command))
    return { servers, options: notices.addTo(options), notices }
  }

  /** Closes the session, which deletes its ephemeral nodes. */
  async close(): Promise<void> {
    // Closes its session itself, because the signal has aborted or the task has ended.
    await this.#supervised
    const client = await this.#client?.catch(() => undefined)
    await client?.close()
    this.#notices?.stop()
  }
}
