// The page: what one sees and does. Preact draws what changes seldom; the canvas, what flies.
// May import: preact, preact/hooks, site/lessons, site/playground/model, site/playground/scene, site/world,
// src/protocol/entry.ts.
import { render } from 'preact'
import { Playground } from '../model/playground.ts'
import { App } from './app.tsx'
import { linkInAddress } from './address.ts'
import { OPENING } from './opening.ts'

async function start(root: Element): Promise<void> {
  const playground = await Playground.open(linkInAddress().link, OPENING)
  // For the console of a curious reader, and for tests.
  Object.assign(window, { playground })
  root.textContent = ''
  render(<App playground={playground} home={document.documentElement.dataset['home']} />, root)
  // A reader can paste another link into the address of the same page.
  window.addEventListener('hashchange', () => {
    const { link } = linkInAddress()
    if (link !== playground.link) void playground.openLink(link)
  })
}

const root = document.querySelector('main')
if (root !== null) void start(root)
