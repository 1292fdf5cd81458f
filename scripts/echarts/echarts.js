// The part of ECharts that the report's page uses: see internal/report/assets/charts.js.
import { use, init, format } from "echarts/core.js";
import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts.js";
import { GridComponent, MarkLineComponent, TooltipComponent } from "echarts/components.js";
import { LabelLayout } from "echarts/features.js";
import { SVGRenderer } from "echarts/renderers.js";

use([BarChart, CustomChart, LineChart, ScatterChart, GridComponent, MarkLineComponent, TooltipComponent,
  LabelLayout, SVGRenderer]);

export { init, format };
