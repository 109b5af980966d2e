import type {Page} from '../support/chromium.ts'

const NAMED = new Set(['button', 'link', 'textbox', 'region', 'table', 'heading'])
const MIN_TARGET_PX = 24

interface AxNode {
  readonly ignored: boolean
  readonly role?: {readonly value: string}
  readonly name?: {readonly value: string}
}

/** Roles and names of the accessibility tree, as `button: Sign in`. */
export async function spoken(page: Page): Promise<string[]> {
  const {nodes} = await page.send<{nodes: AxNode[]}>('Accessibility.getFullAXTree')
  return nodes.filter(({ignored}) => !ignored).map(({role, name}) => `${role?.value}: ${name?.value ?? ''}`)
}

/** Elements that a screen reader could not name. */
export async function nameless(page: Page): Promise<string[]> {
  return (await spoken(page)).filter(each => NAMED.has(each.split(':')[0]!) && each.endsWith(': '))
}

/** Buttons, links and fields that are too small to be hit. */
export function smallTargets(page: Page): Promise<string[]> {
  return page.read(`[...document.querySelectorAll('a, button, input')]
    .map(each => [each.textContent || each.id, each.getBoundingClientRect()])
    .filter(([, {width, height}]) => width < ${MIN_TARGET_PX} || height < ${MIN_TARGET_PX})
    .map(([text, {width, height}]) => text + ' ' + width + 'x' + height)`)
}

/** How far the page itself scrolls sideways at a width, in px. */
export async function sideways(page: Page, width: number): Promise<number> {
  await page.send('Emulation.setDeviceMetricsOverride', {width, height: 700, deviceScaleFactor: 1, mobile: false})
  const over = await page.read<number>(`document.documentElement.scrollWidth - document.documentElement.clientWidth`)
  await page.send('Emulation.clearDeviceMetricsOverride')
  return over
}
