// Opens the page of the playground in Chromium.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { buildPlayground } from '../../../site/playground/build.ts'

let built: Promise<string> | undefined
/** Returns the page. It is built once. */
export const builtPlayground = (): Promise<string> => (built ??= buildPlayground().then(({ html }) => html))

/** A page that is open, and what it asked for and said. */
export interface OpenPlayground {
  page: Page
  requests: string[]
  messages: string[]
  /** Evaluates an expression in which `playground` is the state of the page. */
  evaluate: <T>(expression: string) => Promise<T>
  /** Presses a button by its name, and waits until the page has done it. */
  press: (name: string | RegExp) => Promise<void>
  /** Waits until the page has no work left. */
  idle: () => Promise<void>
  /** Waits until an expression is true in the page. */
  until: (condition: string) => Promise<void>
  close: () => Promise<void>
}

/** How long {@link OpenPlayground.until} waits, in milliseconds. */
const PATIENCE = 40_000

/** @param link the part of the address after `#` */
export async function openPlayground(
  browser: Browser,
  link = '',
  options: BrowserContextOptions = {},
): Promise<OpenPlayground> {
  const directory = await mkdtemp(join(tmpdir(), 'zkwire-playground-'))
  const file = join(directory, 'playground.html')
  await writeFile(file, await builtPlayground())
  const context = await browser.newContext({ viewport: { width: 1280, height: 960 }, ...options })
  const page = await context.newPage()
  const requests: string[] = []
  const messages: string[] = []
  page.on('console', message => messages.push(message.text()))
  page.on('pageerror', error => messages.push(error.message))
  page.on('request', request => requests.push(request.url()))
  await page.goto(`${pathToFileURL(file).href}${link === '' ? '' : `#${link}`}`)
  // Playwright's waitForFunction would evaluate strings in the page, which its policy forbids.
  const until = async (condition: string) => {
    const end = Date.now() + PATIENCE
    while (!(await page.evaluate<boolean>(condition))) {
      if (Date.now() > end) throw new Error(`after ${PATIENCE} ms there is still no ${condition}`)
      await page.waitForTimeout(20)
    }
  }
  // The stage is drawn in its final size.
  await until(`((canvas, stage) => canvas !== null && canvas.width === Math.round(stage.clientWidth * devicePixelRatio))(
    document.querySelector('.stage canvas'), document.querySelector('.stage'))`)
  const idle = async () => {
    await until('!playground.isBusy')
    // Preact draws in the next turn.
    await page.evaluate('new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)))')
  }
  return {
    ...{ page, requests, messages, idle, until },
    evaluate: <T>(expression: string) => page.evaluate<T>(expression),
    press: async name => {
      await page
        .getByRole('button', { name, exact: typeof name === 'string' })
        .first()
        .click()
      await idle()
    },
    close: async () => {
      await context.close()
      await rm(directory, { recursive: true })
    },
  }
}
