// What a command writes to a slow reader, and what is left when it has ended.
import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import { PassThrough } from 'node:stream'
import { Output } from '../../../src/cli/runner/output.ts'
import { withTimeout } from '../../../src/cli/runner/run.ts'
import { Server } from '../../../src/server/index.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { failureOf, trackSettled } from '../../support/settled.ts'
import { turns } from '../../support/turns.ts'
import { inProcess } from '../commands/in-process.ts'

describe('the output of a command', () => {
  const stage = () => {
    const [stream, closed] = [new PassThrough({ highWaterMark: 1 }), new AbortController()]
    const listeners = () => stream.listenerCount('drain') + getEventListeners(closed.signal, 'abort').length
    return { stream, closed, listeners, out: new Output(stream, closed, { isJson: false, hasColour: false }) }
  }

  it('waits for a slow reader each time, and leaves no listener', async () => {
    const { stream, listeners, out } = stage()
    const before = listeners()
    for (const text of ['one', 'two']) {
      const writing = out.write(text)
      const isWritten = trackSettled(writing)
      await turns()
      expect(isWritten(), text).to.equal(false)
      expect(String(stream.read())).to.equal(text)
      await writing
    }
    expect(listeners()).to.equal(before)
  })

  it('rejects with the reason if the reader closes it, and leaves no listener', async () => {
    const { closed, listeners, out } = stage()
    const before = listeners()
    const [writing, reason] = [failureOf(out.write('one')), new Error('the output is closed')]
    closed.abort(reason)
    expect([await writing, await failureOf(out.write('two'))]).to.deep.equal([reason, reason])
    expect(listeners()).to.equal(before)
  })
})

describe('a command that has ended', () => {
  for (const line of ['ls /', 'ls /missing', 'ls --unknown', 'ls --help'])
    it(`does not listen to Ctrl-C any more: ${line}`, async () => {
      await using server = await Server.start({ listen: false })
      const running = (await inProcess(server)).start(line.split(' '))
      await running.ended
      expect(getEventListeners(running.signals.ending, 'abort')).to.deep.equal([])
    })

  it('leaves no timer of a limit', async () => {
    const clock = new VirtualClock()
    expect(await withTimeout(clock, 1000, () => Promise.resolve('in time'))).to.equal('in time')
    expect(await failureOf(withTimeout(clock, 1000, () => Promise.reject(new Error('failed'))))).to.be.an('error')
    expect(clock.pendingTimers).to.equal(0)
  })
})
