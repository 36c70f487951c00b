import { expect } from 'chai'
import { describeClient, describeHolding } from '../../../site/playground/model/words.ts'
import { barsOf, COLUMN } from '../../../site/playground/scene/lanes.ts'
import { World } from '../../../site/world/world.ts'
import type { Picture } from '../../../site/world/picture.ts'

describe('the bars in the lanes', () => {
  let world: World
  beforeEach(async () => {
    world = await World.open({ recipe: 'mutex', clients: 3, servers: 1, seed: 7 })
    await world.settle()
  })
  afterEach(() => world.close())

  const bars = ({ holdings }: Picture = world.picture()) => barsOf(holdings, world.frames)
  const holders = () => world.picture().holdings.map(({ client, until }) => [client, until === undefined])

  it('end with the last frame as long as a client holds the lock', () => {
    const [bar] = bars()
    expect(bar?.holding).to.include({ client: 1, until: undefined })
    expect(bar?.to).to.equal((world.frames.length + 1) * COLUMN)
    expect(bar?.from).to.be.within(COLUMN, world.frames.length * COLUMN)
  })

  it('end with the release, and that of the next client begins after it', async () => {
    await world.act({ kind: 'release', client: 1 })
    await world.settle()
    expect(holders()).to.deep.equal([
      [1, false],
      [2, true],
    ])
    const [first, second] = bars()
    expect(first?.to).to.be.at.most(second?.from ?? NaN)
    const [{ holding } = expect.fail('no bar')] = bars()
    expect(describeHolding(holding)).to.match(/^client 1 held from 0\.\d{3} s to 0\.\d{3} s$/)
  })

  it('end when the client dies or learns that its session has expired, and begin anew when it joins again', async () => {
    await world.act({ kind: 'kill', client: 1 })
    expect(holders()).to.deep.equal([[1, false]])
    // The session of the dead client expires.
    await world.advance(20_000)
    await world.act({ kind: 'join', client: 1 })
    await world.settle()
    await world.act({ kind: 'expire', client: 2 })
    await world.settle()
    await world.act({ kind: 'release', client: 3 })
    await world.settle()
    expect(holders()).to.deep.equal([
      [1, false],
      [2, false],
      [3, false],
      [1, true],
    ])
  })

  it('say from when on a client only believes that it holds the lock', async () => {
    await world.act({ kind: 'stop', client: 1, seconds: 15 })
    await world.advance(14_000)
    const [first, second] = world.picture().clients
    expect(first).to.include({ role: 'holding', isConfirmed: false })
    expect(second).to.include({ role: 'holding', isConfirmed: true })
    expect(first && describeClient(first)).to.match(/believes that it holds the lock$/)
    const [believed, held] = bars()
    expect(believed?.sure).to.be.within((held?.from ?? NaN) - COLUMN, held?.from ?? NaN)
    expect(believed?.to).to.equal((world.frames.length + 1) * COLUMN)
    expect(believed && describeHolding(believed.holding)).to.match(/ to 1\d\.\d{3} s, and believes that it still does$/)
    await world.advance(2000)
    expect(bars()[0] && describeHolding(bars()[0]?.holding ?? expect.fail())).to.match(/, and believed it until 1\d\./)
    expect(world.picture().clients[0]).to.include({ role: 'lost', isConfirmed: true })
  })

  it('are sure, but the client is not, between the end of its lease and that of its session', async () => {
    await world.act({ kind: 'stop', client: 1, seconds: 15 })
    await world.advance(10_001)
    expect(world.picture().clients[0]).to.deep.include({ role: 'holding', isConfirmed: false })
    expect(world.picture().holdings).to.have.length(1)
  })
})
