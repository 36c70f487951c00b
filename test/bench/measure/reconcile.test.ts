// How the counts of the benchmark's clients are compared with those of the server.
import { expect } from 'chai'
import { totalOf, startReconciliation, type WireCounts } from '../../../bench/measure/reconcile.ts'
import { noTraffic } from '../../../bench/measure/frame-counter.ts'

describe('the counts of clients and server', () => {
  const passed = (frames: number): WireCounts => ({
    ...{ framesSent: frames, framesReceived: frames },
    ...{ bytesSent: 100 * frames, bytesReceived: 100 * frames },
  })
  /** Clients and a server that report these numbers of frames one after the other, and then repeat the last one. */
  const sides = (clients: number[], server: (number | undefined)[]) => {
    const next = <T>(all: T[]): T => (all.length > 1 ? all.shift() : all[0]) as T
    return {
      clients: () => Promise.resolve({ ...noTraffic(), pings: { ...passed(next(clients)), notifications: 0 } }),
      server: () => {
        const frames = next(server)
        return Promise.resolve(frames === undefined ? undefined : passed(frames))
      },
    }
  }

  it('agree if both sides have counted the same since the start', async () => {
    const done = await startReconciliation(sides([5, 5, 9], [70, 74]))
    expect(await done()).to.deep.equal({ clients: passed(4), server: passed(4), agree: true })
  })

  it('are read again if a ping passed meanwhile', async () => {
    const done = await startReconciliation(sides([5, 6, 6, 6, 8], [71, 71, 73]))
    expect(await done()).to.deep.include({ clients: passed(2), agree: true })
  })

  it('agree as soon as the server has counted its written frames', async () => {
    const done = await startReconciliation(sides([5, 5, 9], [70, 73, 73, 74]))
    expect(await done()).to.deep.include({ server: passed(4), agree: true })
  })

  it('differ if the counts of the server stay different', async () => {
    const done = await startReconciliation(sides([5, 5, 9], [70, 75]))
    expect(await done()).to.deep.equal({ clients: passed(4), server: passed(5), agree: false })
  })

  it('are added up, and differ if any of them differs', () => {
    const [alike, unlike] = [true, false].map(agree => ({ clients: passed(2), server: { framesSent: 2 }, agree }))
    expect(totalOf([alike, undefined, alike])).to.deep.equal({
      clients: passed(4),
      server: { framesSent: 4 },
      agree: true,
    })
    expect(totalOf([alike, unlike])?.agree).to.equal(false)
    expect(totalOf([undefined])).to.equal(undefined)
  })

  it('are undefined if the server reports none', async () => {
    const done = await startReconciliation(sides([5], [undefined]))
    expect(await done()).to.equal(undefined)
  })
})
