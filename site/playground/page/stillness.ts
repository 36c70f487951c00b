/** Matches while the reader wants no motion. */
export const stillness = {
  get matches(): boolean {
    return matchMedia('(prefers-reduced-motion: reduce)').matches
  },
}
