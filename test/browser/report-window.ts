// Opens a report as its reader does: from a file, in windows of two widths.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

export const WIDTHS = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } }

/** Writes a page into a file of its own. `remove()` deletes it. */
export async function pageFile(html: string): Promise<{ address: string; remove: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'zkwire-report-'))
  const file = join(directory, 'report.html')
  await writeFile(file, html)
  return { address: pathToFileURL(file).href, remove: () => rm(directory, { recursive: true }) }
}

/** A window, with the messages and errors that its page has logged, and the addresses that it has requested. */
export interface Window {
  context: BrowserContext
  page: Page
  messages: string[]
  requests: string[]
}

export async function openWindow(browser: Browser, address: string, options: BrowserContextOptions): Promise<Window> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const [messages, requests]: [string[], string[]] = [[], []]
  page.on('console', message => messages.push(message.text()))
  page.on('pageerror', error => messages.push(error.message))
  page.on('request', request => requests.push(request.url()))
  await page.goto(address)
  return { context, page, messages, requests }
}
