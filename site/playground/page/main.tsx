// The page: what one sees and does. Preact draws what changes seldom; the canvas, what flies.
// May import: preact, preact/hooks, site/capture, site/history, site/lab, site/lessons, site/playground/model,
// site/playground/scene, site/world, src/protocol/entry.ts.
import { render } from 'preact'
import { Playground } from '../model/playground.ts'
import { App } from './app.tsx'
import { linkInAddress } from './address.ts'
import { keepFinished } from './finished.ts'
import { OPENING } from './opening.ts'
import { servePrograms, workersOf } from './program-worker.ts'

async function start(root: Element, ownCode: string): Promise<void> {
  const playground = await Playground.open(linkInAddress().link, OPENING, workersOf(ownCode))
  keepFinished(playground)
  // For the console of a curious reader, and for tests.
  Object.assign(window, { playground })
  root.textContent = ''
  render(<App playground={playground} home={document.documentElement.dataset['home']} />, root)
  // A reader can paste another link into the address of the same page.
  window.addEventListener('hashchange', () => {
    const { link } = linkInAddress()
    if (link !== playground.link || playground.error !== undefined) void playground.openLink(link)
  })
}

// A worker runs this script too, and has no document.
if (typeof document === 'undefined') servePrograms()
else {
  const root = document.querySelector('main')
  if (root !== null) void start(root, document.currentScript?.textContent ?? '')
}
