// A client connected to a scripted server, in virtual time and without randomness.
import { connect, type Client, type ConnectOptions } from '../../src/client/index.ts'
import { operations } from '../../src/protocol/index.ts'
import { VirtualClock, settle } from '../../src/testing/virtual-clock.ts'
import { ScriptedServer, statOf, type ScriptedConnection, type Handshake } from './scripted-server.ts'

/** The session timeout that scripted sessions request, in milliseconds. Its third and two thirds are round numbers. */
export const T = 3000

/** A time in ms that is longer than the longest pause before a client tries the next host. */
const RETRY = 2000

export interface ScriptedSession {
  client: Client
  clock: VirtualClock
  server: ScriptedServer
  connection: ScriptedConnection
  /** Errors that callbacks of the test have thrown. */
  callbackErrors: unknown[]
}

export async function scriptedSession(
  options: ConnectOptions = {},
  servers = 'zk',
  welcome: Handshake = {},
): Promise<ScriptedSession> {
  const { opening, server, clock, callbackErrors } = scriptedConnect(options, servers)
  const connection = await server.next()
  connection.open()
  connection.handshake(welcome)
  return { client: await opening, clock, server, connection, callbackErrors }
}

/** Calls connect() and returns before any server has answered. */
export function scriptedConnect(options: ConnectOptions = {}, servers = 'zk') {
  const clock = new VirtualClock()
  const server = new ScriptedServer()
  const callbackErrors: unknown[] = []
  const opening = connect(servers, {
    sessionTimeout: T,
    dial: server.dial,
    clock,
    random: () => 0.5,
    onUncaughtError: error => callbackErrors.push(error),
    ...options,
  })
  return { opening, server, clock, callbackErrors }
}

/** Waits for the client's next attempt and accepts its session. */
export async function reconnect(
  { clock, server }: Pick<ScriptedSession, 'clock' | 'server'>,
  welcome: Handshake = {},
): Promise<ScriptedConnection> {
  const connection = await redial({ clock, server })
  connection.open()
  connection.handshake(welcome)
  await settle()
  return connection
}

/** Advances the clock to the client's next attempt and returns its connection. */
export async function redial({
  clock,
  server,
}: Pick<ScriptedSession, 'clock' | 'server'>): Promise<ScriptedConnection> {
  const { length } = server.connections
  for (let waited = 0; server.connections.length === length && waited <= RETRY; waited++) await clock.advance(1)
  if (server.connections.length === length) throw new Error(`the client did not dial again within ${RETRY} ms`)
  return server.next()
}

/** Shows the client that the server knows the operations of 3.5, so that no later write waits for the reply to one. */
export async function proveVersion(client: Client, connection: ScriptedConnection): Promise<void> {
  const checked = client.checkWatches('/')
  connection.reply(await connection.next())
  await checked
}

/** Closes the client and answers its closeSession request. */
export async function closeCleanly({
  client,
  connection,
}: Pick<ScriptedSession, 'client' | 'connection'>): Promise<void> {
  const closing = client.close()
  await settle()
  for (const request of connection.requests) if (request.op === operations.closeSession) connection.reply(request)
  await closing
}

/** Returns a reply to getData. */
export const dataReply = (data: string | null = '', zxid?: bigint) => ({
  body: { data, stat: statOf() },
  ...(zxid !== undefined && { zxid }),
})
