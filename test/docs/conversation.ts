// Holds the conversation of docs/protocol.md with a real server, and records its frames.
import { operations, xids } from '../../src/protocol/index.ts'
import { connect, type Client, type ObservedFrame } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { until } from '../../environment/until.ts'
import { dumpFrame, type FrameDump } from './frame-dump.ts'

/** Returns the frames by their names in the document. */
export async function holdConversation(server: ApacheZooKeeper): Promise<Map<string, FrameDump>> {
  const frames = new Map<string, FrameDump>()
  const [ann, bob] = [new Observer(), new Observer()]
  await using first = await connect(server.connectString, { sessionTimeout: 1000, onFrame: ann.observe })
  frames.set('hello', ann.find('client', 'connect')).set('welcome', ann.find('server', 'connect'))
  await until(() => ann.has('server', 'ping'))
  frames.set('ping', ann.find('client', 'ping')).set('pong', ann.find('server', 'ping'))

  await using second = await connect(server.connectString, { sessionTimeout: 4000, onFrame: bob.observe })
  await second.create('/greeting', 'hello')
  const event = new Promise<unknown>(resolve => void first.getData('/greeting', { watch: resolve }))
  await until(() => ann.has('server', 'getData'))
  frames.set('read', ann.find('client', 'getData')).set('answer', ann.find('server', 'getData'))
  await second.setData('/greeting', 'good evening')
  await event
  frames.set('write', bob.find('client', 'setData')).set('event', ann.find('server', 'event'))
  const missing: unknown = await first.delete('/farewell').catch((error: unknown) => error)
  if (!(missing instanceof Error)) throw new Error('/farewell should not exist')
  frames.set('refusal', ann.find('server', 'delete'))
  await second.delete('/greeting')

  await lock(first, second, bob, frames)
  return frames
}

/** Bob queues for a lock that Ann holds and then releases. */
async function lock(first: Client, second: Client, bob: Observer, frames: Map<string, FrameDump>): Promise<void> {
  const held = await new Mutex(first, '/locks/orders').acquire()
  bob.clear()
  const waiting = new Mutex(second, '/locks/orders', { id: 'bob', lookAhead: false }).acquire()
  await until(() => bob.has('server', 'getData'))
  const [create, list, read] = ['create2', 'getChildren2', 'getData'] as const
  frames.set('create?', bob.find('client', create)).set('look?', bob.find('client', list))
  frames.set('create!', bob.find('server', create)).set('look!', bob.find('server', list))
  frames.set('watch?', bob.find('client', read)).set('watch!', bob.find('server', read))
  bob.clear()
  await held.release()
  const granted = await waiting
  frames.set('your turn?', bob.find('server', 'event'))
  frames.set('list?', bob.find('client', 'getChildren2')).set('list!', bob.find('server', 'getChildren2'))
  await granted.release()
  frames.set('delete', bob.find('client', 'delete'))
  await second.deleteRecursive('/locks')
}

/** Records the frames of one session, and finds the operation of each reply. */
class Observer {
  #frames: FrameDump[] = []
  readonly #opcodes = new Map<number, number>()

  readonly observe = ({ from, bytes, first }: ObservedFrame): void => {
    const frame = Buffer.from(bytes)
    const xid = frame.readInt32BE(0)
    if (from === 'client' && !first) this.#opcodes.set(xid, frame.readInt32BE(4))
    const opcode = xid === xids.ping ? operations.ping.opcode : this.#opcodes.get(xid)
    this.#frames.push(dumpFrame(frame, { from, first, opcode }))
  }

  clear(): void {
    this.#frames = []
  }

  has(from: 'client' | 'server', op: string): boolean {
    return this.#frames.some(frame => frame.from === from && frame.op === op)
  }

  find(from: 'client' | 'server', op: string): FrameDump {
    const frame = this.#frames.find(each => each.from === from && each.op === op)
    if (frame === undefined) throw new Error(`no ${op} from the ${from}`)
    return frame
  }
}
