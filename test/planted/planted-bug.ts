// A bug that is planted on purpose, to check that a test catches it.

export interface PlantedBug {
  /** What is wrong, in a sentence. It is also the bug's name. */
  bug: string
  /** The file that gets the bug. */
  file: string
  /** The text to replace. It must occur in the file exactly once. */
  from: string
  to: string
  /** The test file that must fail. */
  caughtBy: string
}

/** Returns the text with the bug. @throws Error if the text to replace does not occur exactly once */
export function plant(text: string, { file, from, to }: PlantedBug): string {
  const occurrences = text.split(from).length - 1
  if (occurrences !== 1) throw new Error(`${file} contains ${JSON.stringify(from)} ${occurrences} times, not once`)
  return text.replace(from, () => to)
}
