// `zkwire watch`.
import { command } from '../runner/command.ts'
import { escaped, timeText } from '../runner/text.ts'

export const watch = command({
  name: 'watch',
  summary: 'prints the events of a node as they come, until Ctrl-C',
  details: [
    'After a reconnect, or in a new session, a line with resync says that events may be missing: read again what ' +
      'you watch. Needs a server from 3.6 on.',
  ],
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node, which need not exist' }],
  options: { recursive: { type: 'boolean', short: 'r', help: 'also prints the events of all nodes below' } },
  examples: ['zkwire watch -r /app', 'zkwire watch /app --json'],
  async run({ argument, values, sessions, out, clock, signal }) {
    const path = argument('PATH')
    const print = (type: string, where: string, zxid?: bigint) => {
      const time = timeText(clock.wallNow())
      const event = { time, type, path: where, ...(zxid === undefined ? {} : { zxid }) }
      return out.show(event, () => `${out.paint('dim', time)}  ${out.paint('bold', type)}  ${escaped(where)}`)
    }
    let isFirst = true
    await sessions.supervise(async (zk, ended) => {
      await using watcher = await zk.retry(() => zk.addWatch(path, { recursive: values.recursive, signal: ended }), {
        signal: ended,
      })
      await print(isFirst ? 'watching' : 'resync', path)
      isFirst = false
      for await (const { type, path: where, zxid } of watcher) if (type !== 'Session') await print(type, where, zxid)
      ended.throwIfAborted()
    }, signal)
  },
})
