import {afterAll, beforeAll} from 'vitest'
import {clientRows, errandRows, openaiRows} from './clients.ts'
import {testGoldens} from './files.ts'
import {dialectRows} from './fixtures.ts'
import {openScene, type Scene} from './scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

testGoldens('dialects', {...dialectRows(), ...clientRows(), ...openaiRows(), ...errandRows()}, () => scene)
