// A process with a part of the sessions. It executes the commands of its parent. Arguments: connect string, path of the
// fences.
import { execute, type CommandMessage, type Notice, type Reply } from '../harness/messages.ts'
import { monotonicMs, Performer } from '../harness/performer.ts'
import { PassedCounter } from './passed-counter.ts'

// The process ignores signals, so that its parent can still close the sessions. It exits when its parent exits.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
process.once('disconnect', () => process.exit())

const [servers = '', fencePath = ''] = process.argv.slice(2)
// A parent that has just died cannot be sent to. The event 'disconnect' follows.
const post = (message: Notice | Reply) => void process.send?.(message, undefined, undefined, () => undefined)
const passed = new PassedCounter(post)
const performer = new Performer({
  ...{ servers, fencePath, now: monotonicMs },
  marked: () => passed.count('marks'),
  framePassed: () => passed.count('frames'),
  otherFramePassed: () => passed.count('otherFrames'),
  opened: () => post({ is: 'opened' }),
  failed: error => post({ is: 'failed', error }),
})
process.on('message', (message: CommandMessage) => {
  void execute(performer, message).then(reply => {
    passed.flush()
    post(reply)
  })
})
