// Debian's Chromium, headless, driven over its own protocol.
import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'
import { ensureInstalled } from '../support/debian-package.ts'

const program = '/usr/bin/chromium'

export async function startChromium(): Promise<Browser> {
  await ensureInstalled({
    name: 'Chromium',
    package: 'chromium',
    isInstalled: () => existsSync(program),
    alternatives: 'install the Debian package chromium',
  })
  // Root has no sandbox, and a container little shared memory. It opens a page of ours only.
  return chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}
