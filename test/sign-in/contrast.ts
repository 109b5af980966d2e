/** The custom properties of a stylesheet's themes: name → `#rrggbb`. Dark overrides light. */
export function themesOf(css: string): {readonly light: Palette; readonly dark: Palette} {
  const [before = '', after = ''] = css.split('@media (prefers-color-scheme: dark)')
  const light = paletteOf(before)
  return {light, dark: {...light, ...paletteOf(after.slice(0, after.indexOf('\n}')))}}
}

export type Palette = Readonly<Record<string, string>>

function paletteOf(css: string): Palette {
  return Object.fromEntries([...css.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name!, value!]))
}

/** WCAG 2.2 contrast ratio of two colours, 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [lighter, darker] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map(at => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
