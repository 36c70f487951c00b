// Where the site of this package is.

/** The address of the site, without a slash at the end; '' as long as it has none. Then no error names a page. */
export const siteAddress: string = ''

/**
 * Returns the end of an error's message: where the page about the error is.
 * @param heading the heading of the error in docs/troubleshooting.md
 */
export const whereToRead = (heading: string): string =>
  siteAddress === '' ? '' : `. See ${siteAddress}/troubleshooting.html#${heading.toLowerCase().replaceAll(' ', '-')}`
