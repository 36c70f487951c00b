// Starts Debian's Chromium, headless, for Playwright.
import { chromium as playwright, type Browser } from 'playwright-core'
import { ensureInstalled } from './debian-package.ts'
import { chromium } from './needs.ts'

export async function startChromium(): Promise<Browser> {
  await ensureInstalled(chromium)
  // Chromium cannot sandbox as root, and a container has little shared memory. Only our own page is opened.
  return playwright.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}
