// What the heatmap draws: the numbers of one probe, and how they are ordered, named and coloured.

import type { Metric } from './metrics';
import type { Grid } from './model';
import type { Palette } from './palette';
import type { Ranks } from './ranks';

export interface Labels { rows: string[]; columns: string[] } // by place in the order shown
export interface Scene { grid: Grid; metric: Metric; palette: Palette; ranks: Ranks; labels: Labels }
