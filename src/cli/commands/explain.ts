// `zkwire explain`.
import type { Clock } from '../../runtime/clock.ts'
import { CaptureExplainer } from '../capture/capture-explainer.ts'
import { isCapture } from '../capture/capture-reader.ts'
import { HexExplainer } from '../capture/hex-explainer.ts'
import { CaptureError } from '../capture/packet.ts'
import { LinePrinter, lineOptions } from '../conversation/line-printer.ts'
import { command } from '../runner/command.ts'
import { UsageError } from '../runner/failure.ts'
import { bytesOf } from '../runner/input.ts'
import { wholeNumberOf } from '../runner/values.ts'

/** How often missing segments are given up, in milliseconds, while a live capture has no packets. */
const GIVE_UP_INTERVAL = 250

const options = {
  ...lineOptions,
  port: {
    type: 'string',
    value: 'PORT',
    help: 'port of the server, for connections that are older than the capture; default 2181 and 2281, or the lower port',
  },
} as const

type Explainer = CaptureExplainer | HexExplainer

export const explain = command({
  name: 'explain',
  summary: 'tells captured frames in sentences',
  details: [
    'Reads stdin, or FILE: a capture of `tcpdump -w`, as pcap or pcapng, or frames in hex. A capture may be live. Its ' +
      'segments may be out of order, repeated or missing: bytes that are missing are reported, and the next frame that can ' +
      'be recognised is explained again. Passwords and credentials are not printed.',
    'In hex, each line is a frame, with or without its length. A frame with its length may be spread over several lines, ' +
      'as xxd, hexdump -C, od -t x1 and Wireshark print it. A line may start with > for a frame of the client, or < for one of the server.',
  ],
  arguments: [
    { name: 'FILE', kind: 'file', isOptional: true, help: 'the capture, or the frames in hex; default stdin' },
  ],
  options,
  examples: [
    'tcpdump -i any -U -w - port 2181 | zkwire explain',
    'zkwire explain --no-pings capture.pcap',
    'echo 0000000800000001fffffff5 | zkwire explain --hex',
  ],
  connects: false,
  async run(context) {
    const { values, clock, err } = context
    const file = context.optional('FILE')
    const printer = new LinePrinter(context.out, values)
    const port = wholeNumberOf('port', values.port, 1)
    let explainer: Explainer | undefined
    const begin = (start: Buffer): Explainer =>
      isCapture(start)
        ? new CaptureExplainer((seconds, connection, line) => printer.print(line, { seconds, connection }), port)
        : new HexExplainer(line => printer.print(line))
    let start: Buffer = Buffer.alloc(0)
    const stop = repeat(clock, GIVE_UP_INTERVAL, () => explainer?.giveUp(clock.now()))
    const { stdin } = context
    if (file === undefined && 'isTTY' in stdin && stdin.isTTY === true)
      await err.line('reading frames in hex; Ctrl-D ends')
    try {
      for await (const chunk of bytesOf(context, file)) {
        start = Buffer.concat([start, chunk])
        // The format is known from the first four bytes.
        if (start.length < 4) continue
        explainer ??= begin(start)
        explainer.push(start, clock.now())
        start = Buffer.alloc(0)
        await printer.written
      }
      if (explainer === undefined && start.length === 0) throw new CaptureError('the input is empty')
      explainer ??= begin(start)
      explainer.push(start, clock.now())
      explainer.finish()
      await printer.written
      const summary = explainer.summary()
      if (summary !== undefined) await err.line(summary)
    } catch (error) {
      if (!(error instanceof CaptureError)) throw error
      // What was captured before the damage is explained.
      if (explainer instanceof CaptureExplainer) explainer.finish()
      await printer.written
      throw new UsageError(error.message)
    } finally {
      stop()
    }
  },
})

/** Calls back again and again. Returns a function that ends this. */
function repeat(clock: Clock, interval: number, callback: () => void): () => void {
  let timer: unknown
  const next = () => {
    timer = clock.setTimeout(() => {
      callback()
      next()
    }, interval)
  }
  next()
  return () => clock.clearTimeout(timer)
}
