// The sections of a Markdown document.

export interface Section {
  /** '' for the text before the first heading of the second level. */
  heading: string
  /** Without the heading. */
  text: string
}

/** Cuts a document at its headings of the second level. A line of a code block is no heading. */
export function sectionsOf(document: string): Section[] {
  const sections: Section[] = [{ heading: '', text: '' }]
  let fenced = false
  for (const line of document.split('\n')) {
    if (/^\s*```/.test(line)) fenced = !fenced
    const heading = fenced ? undefined : /^## (.*)$/.exec(line)?.[1]
    if (heading === undefined) (sections.at(-1) as Section).text += `${line}\n`
    else sections.push({ heading, text: '' })
  }
  return sections
}

/** Returns the anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

/** Makes anchors unique within a page, as GitHub does: the second "options" becomes "options-1". */
export function anchors(): (heading: string) => string {
  const seen = new Map<string, number>()
  return heading => {
    const anchor = anchorOf(heading)
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  }
}

/** Returns the headings of a document, at all levels. */
export const headingsOf = (document: string): string[] =>
  [...document.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading.replaceAll(/`|\*\*/g, ''),
  )
