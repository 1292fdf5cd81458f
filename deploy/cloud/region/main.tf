# The machines of one region.
terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

variable "machines" {
  type = number
}

variable "type" {
  type = string
}

variable "user_data" {
  type      = string
  sensitive = true
}

data "aws_ssm_parameter" "debian" {
  name = "/aws/service/debian/release/12/latest/arm64"
}

# A worker connects to the hub, and nothing connects to a worker.
resource "aws_security_group" "worker" {
  name_prefix = "conclave-"
  egress {
    from_port        = 0
    to_port          = 0
    protocol         = "-1"
    cidr_blocks      = ["0.0.0.0/0"]
    ipv6_cidr_blocks = ["::/0"]
  }
}

resource "aws_instance" "worker" {
  count                                = var.machines
  ami                                  = data.aws_ssm_parameter.debian.value
  instance_type                        = var.type
  user_data                            = var.user_data
  vpc_security_group_ids               = [aws_security_group.worker.id]
  # A machine that powers off is gone, and costs nothing.
  instance_initiated_shutdown_behavior = "terminate"
  instance_market_options {
    market_type = "spot"
    spot_options {
      spot_instance_type = "one-time"
    }
  }
  metadata_options {
    http_tokens = "required"
  }
  tags = {
    Name = "conclave-worker"
  }
}
