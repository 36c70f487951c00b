// `npm run suite -- screenshots`: takes the pictures of the playground in docs, as WebP.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { startChromium } from '../../environment/chromium.ts'
import { SCENES } from '../world/scenes.ts'
import { buildPlayground } from './build.ts'

const docs = join(import.meta.dirname, '..', '..', 'docs')
/** The package has the pictures: with 1.5 pixels for one and a quality of 0.82, they were a tenth of it. */
const SCALE = 1
const QUALITY = 0.4

const browser = await startChromium()
const { html } = await buildPlayground()

/** Opens the page at a moment that does not depend on the machine: nothing plays. */
async function openPage(width: number, height: number, link = ''): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height }, deviceScaleFactor: SCALE, reducedMotion: 'reduce' })
  // A page without an address of its own: the link of its story is not shown in the pictures.
  await page.route('http://playground.test/', route => route.fulfill({ contentType: 'text/html', body: html }))
  await page.goto(`http://playground.test/${link === '' ? '' : `#${link}`}`)
  await page.locator('.stage .flights').waitFor()
  return page
}

/** Saves what is seen of an element, or of the window. Chromium compresses it, because Playwright writes no WebP. */
async function save(from: Page | Locator, name: string): Promise<void> {
  const png = (await from.screenshot({ animations: 'disabled' })).toString('base64')
  const blank = await browser.newPage()
  const webp = await blank.evaluate<string>(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png}'
    await image.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', ${QUALITY}).split(',')[1]
  })()`)
  await blank.close()
  const bytes = Buffer.from(webp, 'base64')
  await writeFile(join(docs, name), bytes)
  console.log(`docs/${name}: ${Math.round(bytes.length / 1000)} kB`)
}

const stage = await openPage(1280, 940)
await stage.locator('.lessons summary').click()
await stage.evaluate("playground.select({ kind: 'frame', n: 147 })")
await save(stage, 'playground.webp')

const plot = await openPage(760, 900)
await plot.getByRole('combobox', { name: 'Figure' }).selectOption('bytes')
for (const recipe of ['herd-mutex', 'mutex', 'ticket-mutex']) {
  await plot.getByRole('combobox', { name: 'Recipe' }).selectOption(recipe)
  await plot.evaluate('playground.measure()')
}
await save(plot.locator('.costs'), 'playground-costs.webp')

for (const [name, { link, picturedAfter }] of Object.entries(SCENES)) {
  const scene = await openPage(760, 720, `${link}&embed`)
  for (let i = 0; i < picturedAfter; i++) await scene.evaluate('playground.forward()')
  // The frames are seen on their way.
  await scene.evaluate('playground.view.pass(2.4)')
  await scene.waitForTimeout(500)
  await save(scene.locator('main'), `scene-${name}.webp`)
}
await browser.close()
