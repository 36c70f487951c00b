// The lines of conversations, printed for a reader that is slower than they come.
import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import { Writable } from 'node:stream'
import { LinePrinter } from '../../../src/cli/conversation/line-printer.ts'
import { Output } from '../../../src/cli/runner/output.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'

/** A stream whose reader takes one write when it is told to. */
class SlowStream extends Writable {
  readonly texts: string[] = []
  #callback: (() => void) | undefined

  constructor() {
    super({ highWaterMark: 1, decodeStrings: false })
  }

  override _write(chunk: string, _encoding: string, callback: () => void): void {
    this.texts.push(chunk)
    this.#callback = callback
  }

  async takeOne(): Promise<void> {
    this.#callback?.()
    await settle()
  }
}

describe('a printer of lines', () => {
  const printerTo = (stream: Writable, options?: { mostPending: number }, isJson = false) => {
    const closed = new AbortController()
    const printer = new LinePrinter(
      new Output(stream, closed, { isJson, hasColour: false }),
      { hex: false, 'no-pings': false },
      options,
    )
    return { closed, print: (sentence: string) => printer.print({ sentence, dump: '', isPing: false }), printer }
  }

  it('writes all lines of a turn at once, and waits for the reader once, however many there are', async () => {
    const stream = new SlowStream()
    const { closed, print, printer } = printerTo(stream)
    for (let i = 0; i < 1000; i++) print(`line ${i}`)
    await settle()
    for (let i = 1000; i < 2000; i++) print(`line ${i}`)
    await settle()
    expect(stream.texts).to.have.length(1)
    expect(stream.listenerCount('drain')).to.equal(1)
    expect(getEventListeners(closed.signal, 'abort')).to.have.length(1)
    await stream.takeOne()
    expect(stream.texts).to.have.length(2)
    await stream.takeOne()
    await printer.written
    expect(stream.texts.join('')).to.equal(Array.from({ length: 2000 }, (_, i) => `line ${i}\n`).join(''))
  })

  for (const isJson of [false, true])
    it(`leaves out lines above its limit, and says how many, ${isJson ? 'as JSON' : 'as text'}`, async () => {
      const stream = new SlowStream()
      const { print, printer } = printerTo(stream, { mostPending: 100 }, isJson)
      print('first')
      await settle()
      for (let i = 0; i < 1000; i++) print(`line ${i}`)
      await stream.takeOne()
      await stream.takeOne()
      await printer.written
      const [, second = ''] = stream.texts
      expect(second.length).to.be.lessThan(400)
      const printed = second.split('\n').filter(line => line.includes('line ')).length
      expect(second).to.contain(
        `${1000 - printed} lines are left out here, because the reader of the output is too slow`,
      )
    })
})
