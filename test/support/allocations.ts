// What is asked of Buffer for memory while something runs.

const allocators = ['alloc', 'allocUnsafe', 'allocUnsafeSlow', 'concat'] as const

/** Sizes of the buffers that `work` has made, in order; empty ones left out. */
export function allocationsOf(work: () => void): number[] {
  const sizes: number[] = []
  const originals = allocators.map(name => [name, Reflect.get(Buffer, name) as (...args: unknown[]) => Buffer] as const)
  for (const [name, original] of originals)
    Reflect.set(Buffer, name, (...args: unknown[]) => {
      const made = original(...args)
      if (made.length > 0) sizes.push(made.length)
      return made
    })
  try {
    work()
  } finally {
    for (const [name, original] of originals) Reflect.set(Buffer, name, original)
  }
  return sizes
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
