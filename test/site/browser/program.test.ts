// The editor of the playground in Chromium: what a program does, and what it cannot do.
import { expect } from 'chai'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { axeViolations } from '../../../site/checks/axe.ts'
import { invalidHtml } from '../../../site/checks/html.ts'
import { EXERCISES, exerciseLinkOf } from '../../../site/lab/exercises.ts'
import { clientsFor, programLinkOf } from '../../../site/lab/program-link.ts'
import { startChromium } from '../../../environment/chromium.ts'
import { until } from '../../../environment/until.ts'
import { runProgram } from '../support/in-process-world.ts'
import { openPlayground, type OpenPlayground } from '../support/open-playground.ts'

const linkOf = (text: string, clients = 2): string => {
  const scenario = clientsFor({ clients, servers: 1, seed: 1 })
  return programLinkOf({ text, story: { scenario, commands: [], frames: 0 } })
}

const BROKEN = `// é: read, then write
if (await zk.exists('/lock')) return
await zk.create('/lock').catch(() => undefined)
enter(); await sleep(50); leave()`

describe('a program in the playground', function () {
  this.timeout(120_000)
  let browser: Browser
  before(async () => void (browser = await startChromium()))
  after(() => browser.close())

  const verdictOf = (open: OpenPlayground) => open.page.locator('.verdict').innerText()
  const journalOf = (open: OpenPlayground) =>
    open.evaluate<string[]>('playground.picture.clients[0].journal.map(entry => entry.text)')

  it('of a link does not run before the reader presses Run', async () => {
    const open = await openPlayground(browser, linkOf(BROKEN))
    expect(await open.page.getByLabel('The program of each client').inputValue()).to.equal(BROKEN)
    await open.press('one frame forward')
    await open.press('forward until it is quiet')
    expect(open.page.workers()).to.have.length(0)
    expect(await open.evaluate('playground.picture.holdings.length')).to.equal(0)
    expect(await verdictOf(open)).to.match(/has not run yet/)
    await open.press('Run')
    expect(open.page.workers()).to.have.length(1)
    expect(await verdictOf(open)).to.match(/Broken: 1 overlap in 2 entries/)
    await open.close()
  })

  it('has the same frames as in Node, also when it is played again from its start', async () => {
    const open = await openPlayground(browser, linkOf(BROKEN))
    await open.press('Run')
    const framesInPage = () =>
      open.evaluate<string[]>(
        'playground.frames.map(({ bytes, ...frame }) => JSON.stringify(frame) + Array.from(bytes).join())',
      )
    const world = await runProgram(BROKEN, { clients: 2 })
    const inNode = world.frames.map(({ bytes, ...frame }) => JSON.stringify(frame) + Array.from(bytes).join())
    await world.close()
    expect(inNode).to.have.length.above(10)
    expect(await framesInPage()).to.deep.equal(inNode)
    const link = await open.evaluate<string>('playground.link')
    await open.press('to the beginning')
    while ((await open.evaluate<number>('playground.frames.length')) < inNode.length)
      await open.press('one frame forward')
    const bytes = (frames: string[]) => frames.map(text => text.slice(text.indexOf('}')))
    expect(bytes(await framesInPage())).to.deep.equal(bytes(inNode))
    await open.close()
    const again = await openPlayground(browser, link)
    await again.press('Run')
    expect(await verdictOf(again)).to.match(/Broken: 1 overlap/)
    await again.close()
  })

  it('leads to the frame of an overlap, and obeys what the reader does', async () => {
    const open = await openPlayground(browser, linkOf(BROKEN))
    await open.press('Run')
    await open.press(/were inside at the same time/)
    expect(
      await open.evaluate('playground.picture.holdings.filter(({ until }) => until === undefined).length'),
    ).to.equal(2)
    // The verdict is on the whole run, until the reader changes it.
    expect(await verdictOf(open)).to.match(/^Broken: 1 overlap in 2 entries/)
    await open.press('Kill')
    expect(await open.evaluate('playground.picture.clients[0].process')).to.equal('dead')
    expect(await verdictOf(open)).to.match(/did not end/)
    expect(await open.evaluate('playground.link')).to.match(/^program=.*k\.1/)
    await open.close()
  })

  it('can be stopped by the button that has started it', async () => {
    const open = await openPlayground(browser, linkOf('enter(); while (true) await sleep(1)', 30))
    await open.page.getByRole('button', { name: 'Run', exact: true }).click()
    await open.press('Stop')
    expect(await verdictOf(open)).to.match(/in 30 entries\.? .* did not end\./s)
    expect(await open.evaluate<number>('playground.picture.now')).to.be.below(60_000)
    expect(await open.page.getByRole('button', { name: 'Run', exact: true }).isEnabled()).to.equal(true)
    await open.close()
  })

  for (const [title, forging] of [
    ['a loop of answers', 'while (true) self.postMessage({ answer: { result: true }, token: 1 })'],
    ['a loop of other values', 'while (true) self.postMessage(null)'],
    [
      'one answer at times',
      'while (true) { const until = self.Date.now() + 500; while (self.Date.now() < until); self.postMessage({ answer: { result: true }, token: 1 }) }',
    ],
  ] as const)
    it(`is ended when it sends the page ${title}`, async () => {
      const open = await openPlayground(browser, linkOf(`await sleep(1)\n${forging}`, 1))
      await open.press('Run')
      await until(async () =>
        (await open.page.locator('main').innerText()).includes('itself sent a message to the page'),
      )
      await until(() => open.page.workers().length === 0)
      await open.close()
    })

  it('reaches neither the page, nor the network, nor storage', async () => {
    let asked = 0
    const server = createServer().on('connection', socket => {
      asked++
      socket.destroy()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const program = `
const attempts = {
  fetch: () => self.fetch('http://${address}/'),
  data: () => self.fetch('data:,hi'),
  xhr: () => { const x = new XMLHttpRequest(); x.open('GET', 'http://${address}/', false); x.send() },
  socket: () => new Promise((open, fail) => { const s = new WebSocket('ws://${address}/'); s.onopen = open; s.onerror = () => fail(new Error('refused')) }),
  events: () => new Promise((open, fail) => { const s = new EventSource('http://${address}/'); s.onopen = open; s.onerror = () => fail(new Error('refused')) }),
  script: () => importScripts('http://${address}/'),
  scriptOfData: () => importScripts('data:text/javascript,1'),
  module: () => import('http://${address}/'),
  moduleOfData: () => import('data:text/javascript,1'),
  eval: () => eval('1'),
  function: () => Function('return 1')(),
  worker: () => new Promise((open, fail) => { const w = new Worker('data:text/javascript,fetch("http://${address}/").then(() => postMessage(1), () => postMessage(0))'); w.onmessage = ({ data }) => data === 1 ? open() : fail(new Error('no net')) }),
  database: () => new Promise((open, fail) => { const r = indexedDB.open('x'); r.onsuccess = open; r.onerror = () => fail(r.error) }),
  caches: () => caches.open('x'),
  files: () => navigator.storage.getDirectory(),
  locks: () => navigator.locks.request('x', () => 1),
  localStorage: () => localStorage.length,
  document: () => document.body,
  window: () => window.parent,
}
for (const [name, attempt] of Object.entries(attempts))
  try { await attempt(); console.log('REACHED', name) } catch (error) { console.log('no', name) }
new BroadcastChannel('x').postMessage('hello')
console.log(self.origin, location.protocol, 'end')`
    const open = await openPlayground(browser, linkOf(program, 1))
    await open.evaluate("void (window.heard = [], new BroadcastChannel('x').onmessage = e => heard.push(e.data))")
    await open.press('Run')
    // What comes back from the real world does not wait for virtual time.
    for (let i = 0; i < 100 && !(await journalOf(open)).some(line => line.endsWith('end')); i++) {
      await open.press('one frame forward')
      await open.page.waitForTimeout(50)
    }
    const journal = await journalOf(open)
    expect(journal.filter(line => line.startsWith('no '))).to.have.length(19)
    expect(journal.filter(line => line.startsWith('REACHED'))).to.deep.equal([])
    expect(journal).to.include('null data: end')
    expect(await open.evaluate('heard')).to.deep.equal([])
    expect(asked).to.equal(0)
    await open.close()
    await new Promise(resolve => server.close(resolve))
  })

  for (const [what, text] of Object.entries({
    'blocks its worker': 'enter()\nawait sleep(1500)\nleave()\nwhile (true);',
    'never leaves its turn': 'enter()\nawait sleep(1500)\nleave()\nwhile (true) await null',
  }))
    it(`is ended, and the page stays alive, if it ${what}`, async () => {
      const open = await openPlayground(browser, linkOf(text, 1))
      await open.press('Run')
      expect(await open.page.getByRole('alert').textContent()).to.match(/was ended\. Does a loop run without await\?/)
      while (open.page.workers().length > 0) await open.page.waitForTimeout(20)
      // What it did before the loop is seen.
      expect(await open.evaluate('playground.picture.holdings.length')).to.equal(1)
      await open.page.getByLabel('The program of each client').fill('enter()')
      await open.press('Run')
      expect(await verdictOf(open)).to.match(/Right so far/)
      expect(await open.page.getByRole('alert').count()).to.equal(0)
      expect(open.messages).to.deep.equal([])
      await open.close()
    })

  it('tells the line of a syntax error, and of an error at run time', async () => {
    const open = await openPlayground(browser, linkOf('const a = 1\n\nconst b = ;\n', 1))
    await open.press('Run')
    expect(await open.page.getByRole('alert').textContent()).to.match(/^Line 3: SyntaxError/)
    const text = open.page.getByLabel('The program of each client')
    // The code around the program is no line of it.
    for (const [wrong, problem] of [
      [
        "import { connect } from 'zkwire'\nimport fs from 'node:fs'",
        /^Line 2: A program can import names from zkwire, /,
      ],
      ['enter()\nleave())\n', /^Line 2: SyntaxError/],
      ['while (true) {\n  await sleep(1)\n\n', /^The program is not complete: at its end, /],
      ['enter()\n}\nleave()\n', /^The program is not complete: at its end, /],
      ['const a = `x\nenter()', /^The program is not complete: at its end, /],
    ] as const) {
      await text.fill('enter(); leave()')
      await open.press('Run')
      expect(await verdictOf(open)).to.match(/^Right so far/)
      await text.fill(wrong)
      await open.press('Run')
      const alert = open.page.getByRole('alert')
      expect(await alert.textContent(), wrong).to.match(problem)
      // Below the button, where the reader looks.
      const [button, box] = [
        await open.page.getByRole('button', { name: 'Run', exact: true }).boundingBox(),
        await alert.boundingBox(),
      ]
      expect((box?.y ?? 0) - (button?.y ?? 0), wrong).to.be.within(0, 100)
      // The verdict on the run before would be taken for one on this program.
      expect(await verdictOf(open), wrong).to.equal('The program could not run, so there is nothing to judge.')
    }
    await text.fill("const zk2 = zk\nawait sleep(1)\nawait zk.delete('/none')\n")
    await open.press('Run')
    expect(await verdictOf(open)).to.match(/Client 1 failed: line 3: .*NONODE/)
    await text.fill("await sleep(1)\nvoid zk.delete('/none')\nawait sleep(100)")
    await open.press('Run')
    expect(await verdictOf(open)).to.match(/Client 1 failed: line 2: .*NONODE/)
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  it('is written by keyboard: Tab indents, Escape and Tab leaves, Ctrl and Enter runs', async () => {
    const open = await openPlayground(browser)
    await open.page.locator('.editor > summary').focus()
    await open.page.keyboard.press('Enter')
    const text = open.page.getByLabel('The program of each client')
    await text.fill('')
    await open.page.keyboard.press('Tab')
    await open.page.keyboard.type('enter()')
    expect(await text.inputValue()).to.equal('  enter()')
    await open.page.keyboard.press('Control+Enter')
    await open.idle()
    expect(await verdictOf(open)).to.match(/Right so far: one client at a time, 12 entries|Broken/)
    await open.page.keyboard.press('Escape')
    await open.page.keyboard.press('Tab')
    expect(await open.evaluate('document.activeElement.tagName')).to.equal('BUTTON')
    expect(await open.evaluate('location.hash')).to.match(/^#program=/)
    await open.close()
  })

  it('of a malformed link is refused in a sentence', async () => {
    const good = linkOf('enter()')
    const open = await openPlayground(browser, good)
    for (const link of [
      'program=',
      'program=x',
      'program=%;1;bare-clients;2;1;1;0',
      `program=${'x'.repeat(4001)};1;bare-clients;2;1;1;0`,
      good.replace('bare-clients', 'mutex'),
      good.replace('enter', '%65nter'),
      good.replace(';', ';none;'),
      good.replace(';', ';;'),
      `${good};`,
    ]) {
      await open.evaluate(`void (location.hash = ${JSON.stringify(`#${good}`)})`)
      await open.until("document.querySelector('[role=alert]') === null")
      await open.evaluate(`void (location.hash = ${JSON.stringify(`#${link}`)})`)
      await open.page.getByRole('alert').waitFor()
      expect(await open.page.getByRole('alert').textContent(), link.slice(0, 60)).to.match(/^The .*\.$/)
    }
    expect(open.page.workers()).to.have.length(0)
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  it('of an exercise is broken as it says, and mended by its solution', async () => {
    const open = await openPlayground(browser)
    for (const { id, task } of EXERCISES)
      for (const part of ['broken', 'solution'] as const) {
        await open.evaluate(`void (location.hash = '#${exerciseLinkOf(id, part)}')`)
        await open.until(
          `playground.editor.exercise?.id === '${id}' && playground.editor.verdictOn(playground.view.world) === undefined`,
        )
        await open.idle()
        expect(await open.page.locator('.editor-body').innerText()).to.contain(task.split('`')[0]?.trim())
        await open.press('Run')
        const verdict = await verdictOf(open)
        expect(verdict, `${id} ${part}`).to.match(part === 'solution' ? /^Solved: / : /^Not solved: /)
      }
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  it('is not called one that cannot run while it starts', async () => {
    const open = await openPlayground(browser, linkOf('enter()'))
    await open.evaluate(`(() => {
      window.said = new Set()
      const look = () => said.add(document.querySelector('.verdict').textContent)
      new MutationObserver(look).observe(document.querySelector('.verdict'), { subtree: true, childList: true, characterData: true })
    })()`)
    await open.press('Run')
    const said = await open.evaluate<string[]>('[...said]')
    expect(said.at(-1)).to.match(/^Right/)
    expect(said.join()).not.to.contain('could not run')
    await open.close()
  })

  it('of an exercise has it in its link, so that its reader sees the task and whether it is solved', async () => {
    const open = await openPlayground(browser, exerciseLinkOf('owner'))
    const { solution, task } = EXERCISES.find(({ id }) => id === 'owner') ?? expect.fail()
    await open.page.locator('.editor textarea').fill(`// mine\n${solution}`)
    const teacher = await openPlayground(browser, await open.evaluate<string>('playground.link'))
    expect(await teacher.page.locator('.editor-body').innerText()).to.contain(task.split('`')[0]?.trim())
    await teacher.press('Run')
    expect(await verdictOf(teacher)).to.match(/^Solved: /)
    await teacher.close()
    await open.close()
  })

  it('has a button for its link, which says so where a browser offers no clipboard', async () => {
    const open = await openPlayground(browser, linkOf('enter()'))
    await open.evaluate("void Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    await open.press('Copy link')
    expect(await open.page.getByRole('button', { name: 'Copy it from the address' }).count()).to.equal(1)
    expect(await open.evaluate('location.hash')).to.match(/^#program=/)
    expect(open.messages).to.deep.equal([])
    await open.close()
  })

  it('stays text, whatever it is', async () => {
    const open = await openPlayground(
      browser,
      linkOf("console.log('<img src=x onerror=alert(1)>')\nthrow new Error('<b>')"),
    )
    await open.press('Run')
    await open.evaluate("playground.select({ kind: 'client', client: 1 })")
    await open.idle()
    expect(await open.page.locator('main img, main .verdict b b').count()).to.equal(0)
    expect(await open.page.locator('.inspector .log').textContent()).to.contain('<img src=x')
    expect(await verdictOf(open)).to.contain('<b>')
    await open.close()
  })

  for (const width of [1280, 1440])
    it(`has no line that is cut off at the edge of a window of ${width} pixels`, async () => {
      const open = await openPlayground(browser, '', { viewport: { width, height: 900 } })
      await open.page.locator('.editor > summary').click()
      for (const { id } of [undefined, ...EXERCISES].map(exercise => ({ id: exercise?.id }))) {
        if (id !== undefined) await open.page.getByLabel('Exercise').selectOption(id)
        await open.until(`playground.editor.exercise?.id === ${JSON.stringify(id)}`)
        await open.idle()
        const cut = await open.evaluate(
          "(text => text.scrollWidth - text.clientWidth)(document.querySelector('textarea'))",
        )
        expect(cut, id).to.equal(0)
      }
      await open.close()
    })

  for (const [where, width, colorScheme] of [
    ['a desktop', 1440, 'light'],
    ['a phone', 390, 'dark'],
  ] as const)
    it(`fits ${where}, passes axe, and is valid HTML`, async () => {
      const open = await openPlayground(browser, linkOf(BROKEN), {
        ...{ viewport: { width, height: 900 }, colorScheme, bypassCSP: true },
      })
      await open.press('Run')
      await open.page.getByText('What a program can use').click()
      expect(await open.evaluate<number>('document.documentElement.scrollWidth')).to.be.at.most(width)
      expect(await axeViolations(open.page)).to.deep.equal([])
      const drawn = await open.evaluate<string>(
        'document.body.innerHTML.replaceAll(/<(script|style).*?<\\/\\1>/gs, "")',
      )
      expect(await invalidHtml(drawn)).to.deep.equal([])
      await open.close()
    })
})
