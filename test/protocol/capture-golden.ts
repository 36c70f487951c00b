// Writes golden.jsonl: frames captured between ZooKeeper's Java client and a real server, and the values that
// ZooKeeper's own classes decode from them. src/protocol supplies only the names of opcodes and records. It encodes and
// decodes nothing here.
// Run it again for another version of ZooKeeper:  npx tsx test/protocol/capture-golden.ts
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { opcodes, operations, type Operation } from '../../src/protocol/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { JavaProgram } from '../../environment/java-program.ts'
import { everyCodec } from './codecs.ts'
import type { GoldenFrame, Plain } from './golden.ts'
import { startJuteEcho, type Tagged, type TaggedValue } from './jute-echo.ts'

type Captured = Omit<GoldenFrame, 'told'>

/** A TCP proxy that records each frame. */
class Recorder {
  readonly frames: Captured[] = []
  step = ''
  #frozen = false
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(target: ApacheZooKeeper) {
    this.#server = createServer(near => {
      const far = connect(target.port, target.host)
      const opcodeOf = new Map<number, number>()
      this.#forward(near, far, frame => {
        const opcode = frame.readInt32BE(4)
        opcodeOf.set(frame.readInt32BE(0), opcode)
        return { from: 'client', opcode, records: ['RequestHeader', ...recordOf(opcode, 'request')] }
      })
      this.#forward(far, near, frame => {
        const [xid, err] = [frame.readInt32BE(0), frame.readInt32BE(12)]
        if (xid === -1)
          return { from: 'server', opcode: opcodes.notification, records: ['ReplyHeader', 'WatcherEvent'] }
        const opcode = opcodeOf.get(xid) ?? NaN
        return { from: 'server', opcode, records: ['ReplyHeader', ...(err === 0 ? recordOf(opcode, 'response') : [])] }
      })
    })
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  #forward(source: Socket, sink: Socket, judge: (frame: Buffer) => Omit<Captured, 'step' | 'hex'>): void {
    this.#sockets.add(source)
    let left = Buffer.alloc(0)
    let isFirst = true
    source.on('data', chunk => {
      if (this.#frozen) return
      left = Buffer.concat([left, chunk])
      while (left.length >= 4 && left.length >= 4 + left.readInt32BE(0)) {
        const frame = left.subarray(4, 4 + left.readInt32BE(0))
        left = left.subarray(4 + frame.length)
        const judged = isFirst ? greeting(frame) : judge(frame)
        isFirst = false
        this.frames.push({ step: this.step, ...judged, hex: frame.toString('hex') })
      }
      sink.write(chunk)
    })
    source.on('error', () => sink.destroy())
    source.on('close', () => {
      this.#sockets.delete(source)
      sink.destroy()
    })
  }

  /** Holds all frames back until {@link cut}. */
  freeze(): void {
    this.#frozen = true
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#frozen = false
  }

  close(): void {
    this.cut()
    this.#server.close()
  }
}

/** With a password of 16 bytes, connect requests have 44 or 45 bytes and connect responses 36 or 37. */
function greeting(frame: Buffer): Omit<Captured, 'step' | 'hex'> {
  const from = frame.length > 40 ? 'client' : 'server'
  const legacy = frame.length % 4 === 0 ? 'Legacy' : ''
  return { from, records: [legacy + (from === 'client' ? 'ConnectRequest' : 'ConnectResponse')] }
}

function recordOf(opcode: number, part: 'request' | 'response'): string[] {
  const all: Operation<unknown, unknown>[] = Object.values(operations).filter(op => typeof op === 'object')
  const operation = all.find(op => op.opcode === opcode)
  if (operation === undefined) return []
  const codec = operation[part]
  const name = everyCodec.find(each => each.codec === codec)?.exported
  if (name === undefined) throw new Error(`no record for the ${part} of opcode ${opcode}`)
  return name === 'EmptyRecord' ? [] : [name]
}

// Frames written by hand, which the Java client does not send.

const int = (n: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(n)
  return bytes
}
const long = (n: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(n)
  return bytes
}
const counted = (bytes: Buffer) => Buffer.concat([int(bytes.length), bytes])
const string = (text: string) => counted(Buffer.from(text))
const openAcl = Buffer.concat([int(1), int(31), string('world'), string('anyone')])

async function byHand(recorder: Recorder, address: string, steps: Record<string, Buffer[]>): Promise<void> {
  const [host, port] = address.split(':')
  const socket = connect(Number(port), host)
  for (const [step, parts] of Object.entries(steps)) {
    recorder.step = step
    const before = recorder.frames.length
    socket.write(counted(Buffer.concat(parts)))
    const deadline = Date.now() + 5000
    while (recorder.frames.length < before + 2) {
      if (Date.now() > deadline) throw new Error(`no answer to ${step}`)
      await delay(5)
    }
  }
  socket.destroy()
}

// The steps of the Java client, in order.

const STEPS = `
  connect create create-exists create-sequential create-null create-empty create2 createContainer createTTL
  exists exists-absent getData getData-null getData-empty getData-absent setData setData-badVersion getChildren
  getChildren-none getChildren2 getAllChildrenNumber getEphemerals getEphemerals-none delete delete-notEmpty
  sync addAuth addAuth-unknown whoAmI getACL setACL getACL-again reconfig-disabled getConfig multi multi-failed
  multiRead watch-data event-NodeDataChanged watch-container event-NodeChildrenChanged event-NodeCreated
  watch-created event-NodeDeleted watch-children checkWatches watch-data removeWatches removeWatches-noWatcher
  watch-data exists-absent CUT reconnect addWatch-persistent addWatch-recursive event-recursive CUT
  reconnect-persistent closeSession connect-readOnly ping session-gone
`
  .trim()
  .split(/\s+/)

async function drive(client: JavaProgram, recorder: Recorder, steps: readonly string[]): Promise<void> {
  for (const step of steps) {
    if (step === 'CUT') {
      recorder.freeze()
      await client.request('change-unseen')
      recorder.cut()
      continue
    }
    recorder.step = step
    process.stderr.write(`${step}: ${await client.request(step)}\n`)
  }
}

// Decoding by ZooKeeper's own classes.

const classOf = (record: string) => (/^Connect/.test(record) ? `${record}+readOnly` : record.replace('Legacy', ''))

function plain(tagged: TaggedValue): Plain {
  if (tagged === null || typeof tagged !== 'object') return tagged
  if (!Array.isArray(tagged)) return tagged.vector.map(plain)
  return Object.fromEntries(tagged.map(([tag, value]) => [tag, plain(value)]))
}

/** Groups a flat list of headers and bodies into items. The result of a delete has no body. */
function plainItems(tagged: Tagged): Plain {
  const items: { type: Plain; body: Plain }[] = []
  for (const each of tagged.map(([, value]) => plain(value) as Record<string, Plain>)) {
    const last = items.at(-1)
    if (each['done'] === undefined) {
      if (last) last.body = each
    } else if (each['done'] === false) {
      items.push({ type: each['type'] ?? null, body: {} })
    }
  }
  return items
}

async function judged(java: JavaProgram, frames: readonly Captured[]): Promise<GoldenFrame[]> {
  const all: GoldenFrame[] = []
  for (const frame of frames) {
    const answer = await java.request(`decode ${frame.records.map(classOf).join(',')} ${frame.hex}`)
    const told = (JSON.parse(answer) as Tagged[]).map((each, i) =>
      /^Multi/.test(frame.records[i] ?? '') ? plainItems(each) : plain(each),
    )
    all.push({ ...frame, told })
  }
  return all
}

await using server = await startApacheZooKeeper()
await using extended = await startApacheZooKeeper({ jvm: ['-Dzookeeper.extendedTypesEnabled=true'] })
const frames: Captured[] = []

for (const [target, steps] of [
  [server, STEPS],
  [extended, ['connect', 'createTTL', 'closeSession']],
] as const) {
  const client = await JavaProgram.start(new URL('GoldenClient.java', import.meta.url))
  const recorder = new Recorder(target)
  const address = await recorder.listen()
  await client.request(`through ${address} ${target.connectString}`)
  await drive(client, recorder, steps)
  if (target === server) {
    await byHand(recorder, address, {
      'connect-legacy': [int(0), long(0n), int(40_000), long(0n), counted(Buffer.alloc(16))],
      'multi-create2': [
        ...[int(1), int(14), int(15), Buffer.of(0), int(-1)],
        ...[string('/by-hand'), counted(Buffer.from('data')), openAcl, int(0), int(-1), Buffer.of(1), int(-1)],
      ],
      'multi-empty': [int(4), int(14), int(-1), Buffer.of(1), int(-1)],
      'create-nullACL': [int(5), int(1), string('/by-hand/x'), counted(Buffer.alloc(0)), int(-1), int(0)],
      // The server never replies to a check that is sent alone and succeeds.
      'check-badVersion': [int(2), int(13), string('/by-hand'), int(7)],
      unimplemented: [int(3), int(999)],
    })
  } else {
    for (const frame of recorder.frames) frame.step += '-extended'
  }
  frames.push(...recorder.frames)
  await client.close()
  recorder.close()
}

const java = await startJuteEcho()
const golden = await judged(java, frames)
await java.close()
const version = /version: ([\d.]+)/.exec(await server.command('srvr'))?.[1] ?? 'unknown'
const lines = [{ server: `Apache ZooKeeper ${version}` }, ...golden].map(each => JSON.stringify(each) + '\n')
await writeFile(new URL('golden.jsonl', import.meta.url), lines.join(''))
