import {falAi} from '../../../src/providers/fal-ai/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(falAi, {imageGenerate: 3})
testHostile(falAi, ['imageGenerate'])
