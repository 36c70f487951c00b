// What a reader does to the world of the playground, and what the page shows then.
import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { storyOf } from '../../../site/world/story-link.ts'
import { World } from '../../../site/world/world.ts'
import { startChromium } from '../../../environment/chromium.ts'
import { openPlayground, type OpenPlayground } from '../support/open-playground.ts'

/** All bytes of all frames, in hex. */
const BYTES =
  'playground.frames.map(({ bytes }) => [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join(""))'
const FRAMES = 'playground.frames.length'

/** What one can see: the texts of the page, and the pixels of the stage. */
const LOOKS = `(async () => {
  await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))
  return [document.querySelector('.theatre').innerText, document.querySelector('.lanes').innerHTML, ...[...document.querySelectorAll('.stage canvas')].map(canvas => canvas.toDataURL())]
})()`

describe('in the playground,', () => {
  let browser: Browser
  let open: OpenPlayground
  const lookOf = (client: number) => open.page.locator(`[data-client="${client}"]`).getAttribute('data-look')
  const choose = (client: number) => open.page.locator(`[data-client="${client}"]`).click()
  const command = async (kind: string) => {
    await open.page.locator(`[data-command="${kind}"]`).first().click()
    await open.idle()
  }
  /** Tells of each node that is in view without scrolling in its box whether its number is, if it has one. */
  const wholeNumbers = (within = '') =>
    open.evaluate<boolean[]>(`[...document.querySelectorAll('${within}.node')].flatMap(node => {
      const isIn = (inner, outer) => inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top && inner.bottom <= outer.bottom
      const [box, tree] = [node, node.closest('.tree')].map(element => element.getBoundingClientRect())
      if (!isIn(box, tree)) return []
      if (!/\\d{10}$/.test(node.dataset.path)) return [true]
      const number = node.querySelector('.node-number')
      return [number.scrollWidth <= number.clientWidth && isIn(number.getBoundingClientRect(), box) && node.dataset.path.endsWith(number.textContent)]
    })`)
  before(async () => void (browser = await startChromium()))
  after(() => browser.close())
  beforeEach(async () => {
    open = await openPlayground(browser)
    await open.press('forward until it is quiet')
  })
  afterEach(async () => {
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  it('killing the holder shows it dead, and another client has the lock when its session has expired', async () => {
    const before = Number(await open.page.locator('.token.active').getAttribute('data-client'))
    await choose(before)
    await command('kill')
    expect(await lookOf(before)).to.equal('dead')
    await open.press('faster')
    await open.press('faster')
    await open.press('faster')
    await open.press('Play')
    await open.until(
      `(n => n !== undefined && n !== '${before}')(document.querySelector('.token.active')?.dataset.client)`,
    )
    expect(await lookOf(before)).to.equal('dead')
  })

  it('stopping a client shows it stopped, and then as it was before', async () => {
    await choose(5)
    await open.page.getByRole('slider', { name: 'Stop and unplug' }).fill('1')
    await command('stop')
    expect(await lookOf(5)).to.equal('stopped')
    await open.evaluate('playground.view.world.advance(1500)')
    await open.press('one frame forward')
    expect(await lookOf(5)).to.equal('connected')
  })

  it('a lost answer is shown as lost, and the client connects again', async () => {
    await choose(3)
    await command('lose answer')
    const connections =
      'new Set(playground.frames.filter(({client}) => client === 3).map(({connection}) => connection)).size'
    expect(await open.evaluate(connections)).to.equal(1)
    // All that wait list the queue again, and one of these answers is lost.
    await open.press(/^Let the holder release/)
    await open.press('forward until it is quiet')
    // It connects again after a pause, in which nothing is on its way.
    for (let i = 0; i < 4; i++) await open.press('one frame forward')
    expect(await open.evaluate(connections)).to.be.above(1)
    expect(await open.page.locator('.lanes .lost').count()).to.be.above(0)
  })

  it('expiring a session shows the client expired and its node gone', async () => {
    const own = await open.evaluate<string>('playground.picture.servers[0].nodes.find(({owner}) => owner === 4).path')
    await choose(4)
    await command('expire')
    await open.press('forward until it is quiet')
    expect(await lookOf(4)).to.equal('expired')
    expect(await open.page.locator(`[data-path="${own}"]`).count()).to.equal(0)
  })

  it('deleting the holder’s node by hand shows a holder and one that believes it, because it does not watch its node', async () => {
    const holder = Number(await open.page.locator('.token.active').getAttribute('data-client'))
    const path = await open.evaluate<string>(
      `playground.picture.servers[0].nodes.find(({owner}) => owner === ${holder}).path`,
    )
    await open.page.locator(`[data-path="${path}"]`).click()
    await command('delete node')
    await open.press('one frame forward')
    expect(await open.page.locator('[data-client="0"]').count()).to.equal(1)
    await open.press('forward until it is quiet')
    expect(await open.page.locator(`[data-path="${path}"]`).count()).to.equal(0)
    expect(await open.page.locator('.token.active').count()).to.equal(1)
    expect(await open.page.locator(`[data-client="${holder}"][data-role="holding"] .star.hollow`).count()).to.equal(1)
    expect(await open.page.locator('.belief').count()).to.equal(1)
    expect(await open.page.locator('.inspector .log').textContent()).to.match(/deleted by the operator/)
  })

  it('a bare client’s call shows its result below the button, and as the first line of its journal', async () => {
    await open.evaluate('playground.start({ recipe: "bare-clients", clients: 2, servers: 1, seed: 7 })')
    await open.press('forward until it is quiet')
    await open.press('get')
    await open.press('forward until it is quiet')
    expect(await open.page.locator('.calls .outcome.bad').innerText()).to.match(/NONODE/)
    await open.press('create')
    await open.press('forward until it is quiet')
    expect(await open.page.locator('.calls .outcome').innerText()).to.match(/created \/a$/)
    await choose(1)
    expect(await open.page.locator('.inspector .log li').first().innerText()).to.match(/created \/a$/)
  })

  it('a server that is stopped cannot be restarted until it runs again', async () => {
    await open.evaluate('playground.select({ kind: "server", server: 1 })')
    await open.idle()
    const restart = open.page.locator('[data-command="restart server"]')
    await command('restart server')
    expect(await restart.isDisabled()).to.equal(true)
    await open.evaluate('playground.view.world.advance(2000)')
    await open.press('one frame forward')
    expect(await restart.isDisabled()).to.equal(false)
  })

  it('a write of a client that has lost its lock is shown as such, also if no other client holds it', async () => {
    await open.evaluate('playground.start({ recipe: "mutex", clients: 1, servers: 1, seed: 7 })')
    await open.press('forward until it is quiet')
    await command('write nothing')
    await command('stop')
    await open.evaluate('playground.view.world.advance(20_000)')
    await open.press('one frame forward')
    expect(await open.page.locator('.writes .bad').innerText()).to.match(
      /accepted, although it no longer held the lock/,
    )
  })

  it('a refusal is in view wherever the reader is', async () => {
    await open.evaluate('window.scrollTo(0, document.body.scrollHeight)')
    await open.evaluate('playground.act({ kind: "delete node", path: "/a/.." })')
    await open.idle()
    const box = await open.page.getByRole('alert').boundingBox()
    expect(box?.y).to.be.within(0, 900)
  })

  it('one frame back and one forward give the same picture, to the pixel', async () => {
    await choose(2)
    await command('cut')
    for (let i = 0; i < 7; i++) {
      await open.press('one frame forward')
      const [frames, before] = [await open.evaluate<number>(FRAMES), await open.evaluate(LOOKS)]
      await open.press('one frame back')
      expect(await open.evaluate(FRAMES)).to.equal(frames - 1)
      await open.press('one frame forward')
      expect(await open.evaluate(LOOKS)).to.deep.equal(before)
    }
  })

  it('a link shows the same frames, byte by byte, in Node and in two fresh browsers', async () => {
    await choose(6)
    await command('kill')
    await open.press(/^Let the holder release/)
    await open.press('forward until it is quiet')
    const link = await open.evaluate<string>('playground.link')
    const bytes = await open.evaluate<string[]>(BYTES)
    expect(bytes.length).to.be.above(150)
    const inNode = await World.replay(storyOf(link))
    expect(inNode.frames.map(frame => Buffer.from(frame.bytes).toString('hex'))).to.deep.equal(bytes)
    await inNode.close()
    for (let i = 0; i < 2; i++) {
      const other = await startChromium()
      const opened = await openPlayground(other, link)
      expect(await opened.evaluate(BYTES)).to.deep.equal(bytes)
      expect(await opened.evaluate('location.hash.slice(1)')).to.equal(link)
      await opened.close()
      await other.close()
    }
  })

  it('three servers hide no frame, and can still be chosen', async () => {
    await open.evaluate('playground.start({ recipe: "herd-mutex", clients: 4, servers: 3, seed: 7 })')
    await open.idle()
    const top = await open.evaluate(`document.querySelector('.stage').lastElementChild.className`)
    expect(top).to.equal('flights')
    await open.page.locator('[data-server="3"] .server-name').click()
    expect(await open.evaluate('playground.selection')).to.deep.equal({ kind: 'server', server: 3 })
  })

  it('on a phone each of three servers gives most of its box to its tree', async () => {
    await open.page.setViewportSize({ width: 360, height: 740 })
    await open.evaluate('playground.start({ recipe: "herd-mutex", clients: 4, servers: 3, seed: 7 })')
    await open.until(`document.querySelectorAll('.server.narrow').length === 3`)
    const parts = await open.evaluate<number[]>(
      `[...document.querySelectorAll('.server')].map(box => box.querySelector('.tree').clientHeight / box.clientHeight)`,
    )
    for (const part of parts) expect(part).to.be.above(0.5)
  })

  it('a long name of a node keeps its number, however narrow its box is', async () => {
    for (const [servers, width] of [
      [1, 1280],
      [1, 360],
      [3, 360],
    ] as const) {
      await open.page.setViewportSize({ width, height: 800 })
      await open.evaluate(`playground.start({ recipe: "herd-mutex", clients: 3, servers: ${servers}, seed: 7 })`)
      await open.press('forward until it is quiet')
      const names = await open.page.locator('[data-server="1"] .rows .node.ephemeral .node-name').allTextContents()
      expect(names).to.have.length(3)
      for (const name of names) expect(name).to.match(/^.{1,9}….*\d{10}$/)
      expect((await wholeNumbers()).every(isWhole => isWhole)).to.equal(true)
    }
  })

  for (const [width, height, rows] of [
    [1280, 800, 6],
    [360, 740, 4],
  ] as const)
    for (const recipe of ['mutex', 'herd-mutex'])
      it(`each of three servers shows at least ${rows} nodes with their numbers at ${width} × ${height}, ${recipe}`, async () => {
        await open.page.setViewportSize({ width, height })
        await open.evaluate(`playground.start({ recipe: "${recipe}", clients: 12, servers: 3, seed: 7 })`)
        await open.press('forward until it is quiet')
        for (const server of [1, 2, 3]) {
          const shown = await wholeNumbers(`[data-server="${server}"] `)
          expect(shown.length).to.be.at.least(rows)
          expect(shown.every(isWhole => isWhole)).to.equal(true)
        }
      })

  it('a phone shows what the last release has cost', async () => {
    await open.page.setViewportSize({ width: 360, height: 740 })
    expect(await open.page.getByText('this release', { exact: true }).isVisible()).to.equal(true)
  })

  it('with 60 clients each frame is painted on its way, and drawn in its lane', async () => {
    await open.evaluate('playground.start({ recipe: "herd-mutex", clients: 60, servers: 1, seed: 7 })')
    await open.press('forward until it is quiet')
    const sent = await open.evaluate<number>(FRAMES)
    await open.evaluate(`(() => {
      window.painted = new Set()
      document.querySelector('.stage .flights').addEventListener('painted', ({ detail }) => {
        for (const { n, x, y } of detail) if (Number.isFinite(x + y)) painted.add(n)
      })
    })()`)
    await command('release')
    for (let i = 0; i < 3; i++) await open.press('faster')
    await open.press('Play')
    await open.until(`${FRAMES} >= ${sent + 180}`)
    await open.press('Pause')
    // The frames that were sent last may not have been painted before the pause.
    await open.evaluate(LOOKS)
    const missing = await open.evaluate<number[]>(
      `playground.frames.slice(${sent}).map(({ n }) => n).filter(n => !painted.has(n))`,
    )
    expect(missing).to.deep.equal([])
    const lanes = `document.querySelector('.lanes-scroll')`
    const drawn = new Set<string>()
    const width = await open.evaluate<number>(`${lanes}.scrollWidth`)
    for (let x = 0; x < width; x += 800) {
      await open.evaluate(`void (${lanes}.scrollLeft = ${x})`)
      await open.idle()
      for (const n of await open.evaluate<string[]>(
        '[...document.querySelectorAll("[data-frame]")].map(({ dataset }) => dataset.frame)',
      ))
        drawn.add(n)
    }
    expect(drawn.size).to.equal(await open.evaluate(FRAMES))
  })
})
