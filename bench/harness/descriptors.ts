// The limit of open files: every session needs a socket, and so a file descriptor, at both ends.
import { readFileSync } from 'node:fs'

/** The descriptors of a process besides its sessions: its own files, and those of each thread with its event loop. */
const SPARE = 100
const PER_THREAD = 25

export class TooManySessions extends Error {}

/**
 * @param sessions most sessions open at a time
 * @param server the process id of the server, if this run started it
 * @throws TooManySessions if a known limit is too low
 */
export function refuseWithoutDescriptors(
  sessions: number,
  threads: number,
  server: number | undefined,
  limitOf: (pid: number | 'self') => number | undefined = openFilesLimitOf,
): void {
  const needed = sessions + SPARE + PER_THREAD * threads
  const ends: ['this program' | 'the server', number | 'self'][] = [['this program', 'self']]
  if (server !== undefined) ends.push(['the server', server])
  for (const [end, pid] of ends) {
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
