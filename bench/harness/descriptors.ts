// The limit of open files: every session needs a socket, and so a file descriptor, at both ends.
import { readFileSync } from 'node:fs'

/** The descriptors of a process besides its sessions: its own files, and those of each thread with its event loop. */
const SPARE = 100
const PER_THREAD = 25

export class TooManySessions extends Error {}

export interface DescriptorNeeds {
  /** The most sessions that are open at a time. */
  sessions: number
  /** The number of processes that share them. Default 1. */
  processes?: number | undefined
  /** The number of threads of each of these processes. */
  threads: number
  /** The process ids of the servers that share the sessions, if this run started them. */
  servers: readonly number[]
}

/** @throws TooManySessions if a known limit is too low */
export function refuseWithoutDescriptors(
  { sessions, processes = 1, threads, servers }: DescriptorNeeds,
  limitOf: (pid: number | 'self') => number | undefined = openFilesLimitOf,
): void {
  const neededFor = (parts: number) => Math.ceil(sessions / parts) + SPARE + PER_THREAD * threads
  const client = processes === 1 ? 'this program' : 'each process of this program'
  const ends: [string, number | 'self', number][] = [[client, 'self', neededFor(processes)]]
  for (const pid of servers) ends.push(['the server', pid, neededFor(servers.length)])
  for (const [end, pid, needed] of ends) {
    const limit = limitOf(pid)
    if (limit === undefined || limit >= needed) continue
    throw new TooManySessions(
      `${sessions} concurrent sessions need ${needed} file descriptors, but ${end} may open only ${limit}. Run ` +
        `\`ulimit -n ${needed}\` before npm start (as root, or up to the hard limit that \`ulimit -Hn\` shows), or pass fewer --sessions.`,
    )
  }
}

/** Returns the soft limit, or undefined on a system without /proc. */
function openFilesLimitOf(pid: number | 'self'): number | undefined {
  try {
    const limit = /^Max open files +(\d+|unlimited)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1]
    return limit === undefined ? undefined : limit === 'unlimited' ? Infinity : Number(limit)
  } catch {
    return undefined
  }
}
