// Captures of tcpdump on the loopback interface.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CaptureExplainer } from '../../../src/cli/capture/capture-explainer.ts'
import { ChildProgram } from '../../../environment/child-program.ts'
import { ensureInstalled } from '../../../environment/debian-package.ts'
import { findApacheZooKeeper } from '../../../environment/find-apache-zookeeper.ts'
import { tcpdump } from '../../../environment/needs.ts'
import { provideKazoo } from '../../../environment/other-libraries.ts'
import { until } from '../../../environment/until.ts'

const TCPDUMP = '/usr/bin/tcpdump'

export async function installClients(): Promise<void> {
  await ensureInstalled(tcpdump)
  await provideKazoo()
}

/** With 64 MiB of memory: each packet takes 64 KiB of it, and tcpdump drops packets if it is full. */
export const capturing = (port: string): string[] => [
  TCPDUMP,
  ...['-i', 'lo', '-B', '65536', '--immediate-mode', '-U', '-w', '-', 'tcp', 'port', port],
]

/** Captures the packets of a server's port while `action` runs, until every connection is closed. */
export async function captureOf(port: string, action: () => Promise<unknown>): Promise<Buffer> {
  const [program = '', ...args] = capturing(port)
  const capture = new ChildProgram(args, { program })
  /** The ends of each connection that have not closed it. A reset ends both. */
  const open = new Map<number, Set<string>>()
  const explainer = new CaptureExplainer((_, connection, { sentence }) => {
    if (sentence.startsWith('opened')) open.set(connection, new Set(['client', 'server']))
    const [, how, end = ''] = /^(closed|reset) by the (client|server)\b/.exec(sentence) ?? []
    if (how !== undefined) open.get(connection)?.delete(end)
    if (how === 'reset' || open.get(connection)?.size === 0) open.delete(connection)
  })
  capture.child.stdout.on('data', (chunk: Buffer) => explainer.push(chunk, 0))
  try {
    await until(() => capture.err.includes('listening on'))
    await action()
    await until(() => capture.bytes.length > 0 && open.size === 0)
  } finally {
    capture.kill('SIGINT')
    await capture.ended
  }
  return capture.bytes
}

const run = promisify(execFile)

/** Java's client creates a node, lists the root, reads and deletes the node. */
export async function runJavaClient(server: string): Promise<void> {
  const classPath = await findApacheZooKeeper()
  const commands = 'create /captured data\nls -s -w /\nget /captured\ndelete /captured\nquit\n'
  const running = run('java', ['-cp', classPath, 'org.apache.zookeeper.ZooKeeperMain', '-server', server])
  running.child.stdin?.end(commands)
  await running
}

/** Python's kazoo takes a lock and releases it, in two sessions at the same time. */
export async function runKazoo(server: string): Promise<void> {
  const program = `
import sys
from kazoo.client import KazooClient
one, two = KazooClient(hosts=sys.argv[1]), KazooClient(hosts=sys.argv[1])
one.start()
two.start()
one.add_auth('digest', 'ann:s3cret')
first, second = one.Lock('/captured-by-kazoo', 'one'), two.Lock('/captured-by-kazoo', 'two')
first.acquire()
assert not second.acquire(blocking=False)
first.release()
second.acquire()
second.release()
two.delete('/captured-by-kazoo')
for each in (one, two):
    each.stop()
    each.close()`
  await run('/usr/bin/python3', ['-c', program, server])
}
