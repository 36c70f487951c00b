// A lesson as slides: one page that needs no other file, with a picture of the stage at each step. The pictures are files
// of their own within it, so a reader can save one for other slides.
import type { Playground } from '../model/playground.ts'
import { pictureOf, stageSvg } from './stage-svg.ts'
import { xml } from './svg-surface.ts'

/**
 * Returns the HTML of the slides.
 * @param sheet the lesson with the stage of each step, as the page has laid it out
 */
export function slidesOf(sheet: HTMLElement, stages: readonly Playground[]): string {
  // A document that is not shown loads nothing, so the policy of this page does not concern its pictures.
  const inert = document.implementation.createHTMLDocument()
  const slides = inert.createElement('main')
  slides.className = 'slides'
  slides.append(...[...sheet.children].map(child => inert.importNode(child, true)))
  for (const heading of slides.querySelectorAll(':scope > :is(h2, h3)')) {
    const own = inert.createElement(heading.matches('h2') ? 'h1' : 'h2')
    own.textContent = heading.textContent
    heading.replaceWith(own)
  }
  const drawn = sheet.querySelectorAll<HTMLElement>('.stage')
  for (const [i, copy] of slides.querySelectorAll('.stage').entries()) {
    const [playground, stage] = [stages[i], drawn[i]]
    if (playground === undefined || stage === undefined) continue
    const picture = inert.createElement('img')
    picture.alt = pictureOf(playground)
    picture.src = `data:image/svg+xml,${encodeURIComponent(stageSvg(playground, stage))}`
    copy.replaceWith(picture)
  }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${xml(sheet.querySelector('h2')?.textContent ?? '')}</title>
<style>${styleSheet()}</style>
</head>
<body>
${slides.outerHTML}
</body>
</html>
`
}

/** The style sheet of this page, with the colours that the pictures have, wherever the slides are shown. */
function styleSheet(): string {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches
  return [...document.querySelectorAll('style')]
    .map(({ textContent }) => textContent)
    .join('\n')
    .replaceAll('screen and (prefers-color-scheme: dark)', isDark ? 'all' : 'not all')
}
