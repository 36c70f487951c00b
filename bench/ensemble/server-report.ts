// What a server of an ensemble reports of itself: its role, and its own counts, which are compared with those of the
// clients.
import { get } from 'node:http'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import { packetsOf } from '../harness/server.ts'

export type Role = 'leader' | 'follower' | 'observer' | 'standalone' | 'unknown'

/** The counts of a server since its start. A count that it does not report is undefined. */
export interface ServerReport {
  role: Role
  /** The frames that clients have sent to it. */
  framesSent: number | undefined
  /** The frames that it has sent to clients. */
  framesReceived: number | undefined
  watches: number | undefined
  /** The writes that it has proposed as the leader. */
  proposals: number | undefined
}

export interface ServerReporter {
  source: 'mntr' | 'the admin server'
  read(): Promise<ServerReport>
}

/** The time that a server has to answer, ms. */
export const TIMEOUT = 2000
const ADMIN_PORT = 8080

/** Asks a server by the four-letter word `mntr`, or else its admin server. Returns undefined if neither answers. */
export async function findServerReporter(
  host: string,
  port: number,
  adminPort = ADMIN_PORT,
): Promise<ServerReporter | undefined> {
  const ask = () => fourLetterWord(host, port, 'mntr', TIMEOUT)
  if ((await ask().catch(() => '')).includes('zk_server_state')) {
    const packets = packetsOf({ command: ask })
    return {
      source: 'mntr',
      read: async () => {
        const { mntr, framesSent, framesReceived } = await packets()
        return { ...reportOf(metricsOf(mntr)), framesSent, framesReceived }
      },
    }
  }
  const admin = (command: string) => getJson(`http://${host}:${adminPort}/commands/${command}`)
  const isSame = await admin('configuration').then(
    // Servers that share a host share the port of their admin servers, so it may belong to another one.
    configuration => Number(configuration['client_port']) === port,
    () => false,
  )
  if (!isSame) return undefined
  return { source: 'the admin server', read: async () => reportOf(await admin('monitor')) }
}

/** Returns the role by `srvr`, the only four-letter word that servers answer by default. */
export async function roleBySrvr(host: string, port: number): Promise<Role> {
  const reply = await fourLetterWord(host, port, 'srvr', TIMEOUT).catch(() => '')
  return roleOf(/^Mode: (\S+)/m.exec(reply)?.[1])
}

/** Parses the lines of `mntr`. The names lose their prefix, so that they are those of the admin server. */
const metricsOf = (mntr: string): Record<string, unknown> =>
  Object.fromEntries([...mntr.matchAll(/^zk_(\S+)\t(.*)$/gm)].map(([, name = '', value]) => [name, value]))

export function reportOf(metrics: Readonly<Record<string, unknown>>): ServerReport {
  const count = (name: string) => (metrics[name] === undefined ? undefined : Number(metrics[name]))
  return {
    role: roleOf(metrics['server_state']),
    framesSent: count('packets_received'),
    framesReceived: count('packets_sent'),
    watches: count('watch_count'),
    proposals: count('proposal_count'),
  }
}

const ROLES: readonly unknown[] = ['leader', 'follower', 'observer', 'standalone']
const roleOf = (text: unknown): Role => (ROLES.includes(text) ? (text as Role) : 'unknown')

function getJson(url: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, timeout: TIMEOUT }, response => {
      let text = ''
      response.on('data', chunk => (text += String(chunk)))
      response.on('end', () => {
        try {
          resolve(JSON.parse(text) as Record<string, unknown>)
        } catch (error) {
          reject(error)
        }
      })
    })
    request.on('timeout', () => request.destroy(new Error(`${url} did not answer in time`)))
    request.on('error', reject)
  })
}
