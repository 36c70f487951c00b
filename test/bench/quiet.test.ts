import { expect } from 'chai'
import { quiet } from '../../bench/quiet.ts'

describe('quiet', () => {
  it('is proven by a round of fences in which no frame of a recipe passes', async () => {
    const { sessions, fences, meter } = crowd(3, [5, 0])
    await quiet(sessions, '/fence', meter)
    expect(fences).to.deep.equal(['/fence', '/fence', '/fence', '/fence', '/fence', '/fence'])
  })

  it('is not believed while frames pass, in whatever session', async () => {
    const { sessions, fences, meter } = crowd(2, [1, 1, 1, 0])
    await quiet(sessions, '/fence', meter)
    expect(fences).to.have.length(4 * 2)
  })

  it('is not claimed where a fence fails', async () => {
    const { sessions, meter } = crowd(2, [])
    const broken = { sync: () => Promise.reject(new Error('lost')) }
    const error: unknown = await quiet([...sessions, broken], '/fence', meter).catch((e: unknown) => e)
    expect(error).to.be.an('error').with.property('message', 'lost')
  })
})

/** Sessions of which, in each round, the last hears so many frames before its fence is answered. */
function crowd(size: number, framesPerRound: number[]) {
  const meter = { frames: 0 }
  const fences: string[] = []
  const sync = (isLast: boolean) => (path: string) => {
    fences.push(path)
    if (isLast) meter.frames += framesPerRound.shift() ?? 0
    return Promise.resolve()
  }
  const sessions = Array.from({ length: size }, (_, i) => ({ sync: sync(i === size - 1) }))
  return { sessions, fences, meter }
}
