/** Matches while the reader wants no motion. */
export const stillness = matchMedia('(prefers-reduced-motion: reduce)')
