// Starts Debian's Chromium, headless, for Playwright.
import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'
import { ensureInstalled } from './debian-package.ts'

const program = '/usr/bin/chromium'

export async function startChromium(): Promise<Browser> {
  await ensureInstalled({
    name: 'Chromium',
    package: 'chromium',
    isInstalled: () => existsSync(program),
    alternatives: 'install the Debian package chromium',
  })
  // Chromium cannot sandbox as root, and a container has little shared memory. Only our own page is opened.
  return chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}
