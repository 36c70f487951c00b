// A line between the clients and the server, with the delay, jitter and bandwidth that the command names.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseConnectString } from '../../src/session/servers/connect-string.ts'
import type { Line } from './line-timing.ts'
import type { Server } from './server.ts'

/** Starts the line. Returns the server at its other end. Its `close` also ends the line. */
export async function throughLine(server: Server, line: Line): Promise<Server> {
  const [address] = parseConnectString(server.servers).hosts
  if (address === undefined) throw new Error('a line needs a server')
  const program = fileURLToPath(new URL('line-proxy.ts', import.meta.url))
  const child = fork(program, [address.host, String(address.port), JSON.stringify(line)], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const servers = await Promise.race([
    once(child, 'message').then(([servers]) => servers as string),
    exited.then(([code]) => Promise.reject(new Error(`the line exited with ${code} before it accepted connections`))),
  ])
  return {
    ...server,
    servers,
    close: async () => {
      if (child.connected) child.disconnect()
      await exited
      await server.close()
    },
  }
}
