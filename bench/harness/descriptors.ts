// Every session is a socket, and so a file descriptor, at both ends.
import { readFileSync } from 'node:fs'

/** What a process needs besides: threads, their loops, the program's own files. */
const SPARE = 100
const PER_THREAD = 25

export class TooManySessions extends Error {}

/**
 * @param sessions that are open at a time, at most
 * @param server the process of a server that is ours
 * @throws TooManySessions where a limit is known and too low
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
  for (const [who, pid] of ends) {
    const limit = limitOf(pid)
    if (limit === undefined || limit >= needed) continue
    throw new TooManySessions(
      `${sessions} sessions at a time need ${needed} file descriptors, and ${who} may open ${limit}. Ways out: ` +
        `\`ulimit -n ${needed}\` before npm start (as root, or up to the hard limit that \`ulimit -Hn\` tells), or fewer --sessions.`,
    )
  }
}

/** The soft limit, where there is a /proc. */
function openFilesLimitOf(pid: number | 'self'): number | undefined {
  try {
    const limit = /^Max open files +(\d+|unlimited)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1]
    return limit === undefined ? undefined : limit === 'unlimited' ? Infinity : Number(limit)
  } catch {
    return undefined
  }
}
